"""Jinja, set up once: for HTML, where everything is escaped, and for Markdown and prompts, where filters do it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jinja2

from repro_runner.output import markdown
from repro_runner.output.html import fit_for_html, highlight_python
from repro_runner.output.units import size


@cache
def html_templates(folder: Path) -> jinja2.Environment:
    """Templates of a folder for HTML: every text is escaped, and characters that have no place there are spelt out."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=fit_for_html,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"python": highlight_python, "size": size, "pieces": markdown.split_code}
    return environment


@cache
def text_templates(folder: Path) -> jinja2.Environment:
    """Templates of a folder for Markdown or plain text: every text that is not ours goes through one of the filters."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=False,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (markdown.plain, markdown.prose, markdown.code, markdown.cell, markdown.fence, markdown.one_line)
    environment.filters |= {each.__name__: each for each in filters}
    return environment
