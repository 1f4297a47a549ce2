"""The two jinja environments: one for HTML, which escapes all text, and one for Markdown and prompts, with filters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from repro_runner.output import markdown
from repro_runner.output.html import fit_for_html, highlight_python
from repro_runner.output.units import size


@cache
def html_templates(*folders: Path) -> jinja2.Environment:
    """Load HTML templates from folders, each from the first that has it. All text is escaped, and characters that HTML
    does not allow are spelt out."""
    environment = _environment(folders, autoescape=True, finalize=fit_for_html)
    environment.filters |= {"python": highlight_python, "size": size, "pieces": markdown.split_code}
    return environment


@cache
def text_templates(folder: Path) -> jinja2.Environment:
    """Load templates for Markdown or plain text. A template must put every text from a program through a filter."""
    environment = _environment((folder,), autoescape=False, keep_trailing_newline=True)
    filters = (markdown.plain, markdown.prose, markdown.code, markdown.cell, markdown.fence, markdown.one_line)
    environment.filters |= {each.__name__: each for each in filters}
    return environment


def _environment(folders: Sequence[Path], **options: Any) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )
