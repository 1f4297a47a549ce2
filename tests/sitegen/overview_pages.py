"""The pages about many breaks, made from the registry as it is committed."""

from __future__ import annotations

from functools import cache

from bs4 import BeautifulSoup

from registry.notes import body_of
from registry.snippets import programs_of
from registry.taxonomy import read_taxonomy
from sitegen.markdown_shim import markdown_converter
from sitegen.overview import render_overview
from sitegen.templating import template_environment
from tests.committed import committed_registry
from tests.conftest import ROOT

KINDS = [category.key for category in read_taxonomy(ROOT / "registry" / "taxonomy.yml")]


@cache
def real_pages() -> dict[str, str]:
    registry = committed_registry()
    return render_overview(registry, programs_of(registry), template_environment(ROOT / "templates"))


def html_of(page: str) -> BeautifulSoup:
    """What a page's Markdown is; its layout, and the links to addresses, are not in it."""
    return BeautifulSoup(markdown_converter()(body_of(page)), "html5lib")
