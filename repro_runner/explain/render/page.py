"""A report as one HTML page that needs nothing else, and as a table for a notebook."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

import jinja2
from markupsafe import Markup

from registry.ids import SITE
from registry.stylesheet import read_look
from repro_runner.explain.render.changes import Change
from repro_runner.explain.render.excerpt import ExcerptLine
from repro_runner.explain.render.markdown import TEMPLATES, split_code
from repro_runner.explain.render.view import ReportView
from repro_runner.output.html import fit_for_html, highlight_python


def render_page(view: ReportView, *, summary: bool = False) -> str:
    """The page; the same report gives the same bytes."""
    style = Markup(read_look() + (TEMPLATES / "explain.css").read_text("utf-8"))  # our own files
    return (
        _environment()
        .get_template("explain.html.j2")
        .render(
            view=view,
            summary=summary,
            style=style,
            style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii"),
            site=SITE,
        )
    )


def render_notebook(view: ReportView) -> str:
    """A row per site; a notebook brings its own page, fonts and colours."""
    style = Markup((TEMPLATES / "notebook.css").read_text("utf-8"))  # our own file
    return _environment().get_template("notebook.html.j2").render(view=view, style=style)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=fit_for_html,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"python": highlight_python, "coloured": _coloured, "pieces": split_code}
    return environment


def _coloured(lines: tuple[ExcerptLine, ...] | tuple[Change, ...]) -> list[tuple[ExcerptLine | Change, Markup]]:
    """Each line with its text in colours; one that is half a string is coloured as well as it goes."""
    return [(line, Markup(highlight_python(line.text).rstrip("\n"))) for line in lines]  # escaped already
