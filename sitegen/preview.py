"""Build docs/ into HTML without Ruby: the pages that Jekyll would make, near enough to work with."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from liquid import BoundTemplate, Environment
from liquid.exceptions import LiquidError

from registry.errors import InvalidInput, Problem
from sitegen.jekyll_source import JekyllSource, Page, collected, read_source
from sitegen.liquid_shim import liquid_environment
from sitegen.markdown_shim import markdown_converter
from sitegen.site_folder import FolderChanges, write_site


def render_preview(docs: Path) -> dict[str, bytes]:
    """Return {path under _site/: content} for everything in `docs`; write nothing."""
    source = read_source(docs)
    site = dict(source.static_files)
    problems: list[Problem] = []
    for pages, found in _render_all(docs, source):
        site |= pages
        problems += found
    if problems:
        raise InvalidInput(sorted(set(problems)))
    return site


_Rendered = tuple[dict[str, bytes], list[Problem]]


def _render_all(docs: Path, source: JekyllSource) -> list[_Rendered]:
    """With one process per core, where a process can be forked: it has then read everything already."""
    cores = os.cpu_count() or 1
    forks = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    if cores == 1 or not forks or len(source.pages) < _MANY:
        return [_render_some(docs, source, slice(None))]
    with ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("fork")) as pool:
        _inherited[:] = [(docs, source)]
        return list(pool.map(_render_inherited, [slice(first, None, cores) for first in range(cores)]))


_MANY = 100
_inherited: list[tuple[Path, JekyllSource]] = []
"""What the processes that are forked next have to render."""


def _render_inherited(part: slice) -> _Rendered:
    return _render_some(*_inherited[0], part)


def _render_some(docs: Path, source: JekyllSource, part: slice) -> _Rendered:
    renderer = _Renderer(docs, source)
    site: dict[str, bytes] = {}
    problems: list[Problem] = []
    for page in source.pages[part]:
        with collected(problems):
            site[page.output] = renderer.render(page).encode()
    return site, problems


def write_preview(docs: Path, destination: Path) -> FolderChanges:
    """Build `docs` into `destination`; see write_site for which folders it leaves alone."""
    return write_site(render_preview(docs), destination)


class _Renderer:
    """Parses every template once, and keeps one Markdown parser for all pages."""

    def __init__(self, docs: Path, source: JekyllSource) -> None:
        self._docs = docs
        self._site = source.site
        self._environment: Environment = liquid_environment(source.includes)
        self._to_html: Callable[[str], str] = markdown_converter()
        self._layouts = {name: (layout, self._parse(layout)) for name, layout in source.layouts.items()}

    def render(self, page: Page) -> str:
        variables = {"site": self._site, "page": {**page.settings, "path": page.path, "url": page.url}}
        content = page.body
        if page.settings.get("render_with_liquid", True):
            content = self._fill(page, self._parse(page), variables)
        if page.is_markdown:
            content = self._to_html(content)
        return self._lay_out(page, content, variables)

    def _lay_out(self, page: Page, content: str, variables: Mapping[str, Any]) -> str:
        """Put the page into its layout, that into the layout's own, and so on outwards."""
        inner, used = page, set()
        while (name := inner.settings.get("layout")) not in (None, "none"):
            if name not in self._layouts or name in used:
                reason = "is inside itself" if name in used else "is not in _layouts"
                raise InvalidInput([Problem(str(self._docs / inner.path), f"layout {name!r} {reason}")])
            used.add(name)
            inner, template = self._layouts[name]
            content = self._fill(inner, template, {**variables, "content": content})
        return content

    def _parse(self, page: Page) -> BoundTemplate:
        with self._errors_of(page):
            return self._environment.from_string(page.body, name=page.path, path=page.path)

    def _fill(self, page: Page, template: BoundTemplate, variables: Mapping[str, Any]) -> str:
        with self._errors_of(page):
            return template.render(variables)

    @contextmanager
    def _errors_of(self, page: Page) -> Iterator[None]:
        """Say where in which file a mistake in a template is; it may be in a file that the page includes."""
        try:
            yield
        except LiquidError as error:
            in_page = str(error.template_name or page.path) == page.path
            path = page.path if in_page else f"_includes/{error.template_name}"
            context = error.context()
            line = (context[0] if context else 1) + (page.first_line - 1 if in_page else 0)
            raise InvalidInput([Problem(f"{self._docs / path}:{line}", f"Liquid: {error.message}")]) from error
