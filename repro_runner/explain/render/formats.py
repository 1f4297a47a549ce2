"""A report in the formats that people read, with what the registry knows of its breaks: terminal, Markdown, HTML."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from registry.advice import Advisor
from registry.ids import SITE
from registry.knowledge import read_package
from registry.merge import merge_registry
from registry.model import Registry
from repro_runner.explain.render.source_lines import ChangedLine, ExcerptLine, read_excerpts
from repro_runner.explain.render.view import Outcome, ReportView, view_outcome
from repro_runner.output.html import highlight_python, page_style

if TYPE_CHECKING:
    from jinja2 import Environment

    from repro_runner.explain.render.terminal import Screen

_TEMPLATES = Path(__file__).parent.parent / "templates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How it is to be shown."""

    format: str = "terminal"
    summary: bool = False
    screen: Screen | None = None
    """Of the terminal; plain and 80 wide without one."""
    folder: Path | None = None
    """What paths are shown relative to; the current folder without one."""
    fullgraph_off: bool = False


@cache
def read_registry() -> Registry:
    """The registry in the package; it takes a second, and does not change while a process runs."""
    return merge_registry(read_package())


@cache
def read_answers() -> Advisor:
    """What that registry answers."""
    return Advisor(read_registry())


def read_view(outcome: Outcome, wishes: Wishes) -> ReportView:
    """What is shown of the report, with the lines around its sites."""
    folder = wishes.folder or Path.cwd()
    return view_outcome(
        outcome,
        read_answers(),
        folder=folder,
        excerpts=read_excerpts(outcome.report, folder),
        fullgraph_off=wishes.fullgraph_off,
    )


def read_and_render(outcome: Outcome, wishes: Wishes) -> str:
    """The whole text."""
    view = read_view(outcome, wishes)
    if wishes.format == "md":
        return render_markdown(view, summary=wishes.summary)
    if wishes.format == "html":
        return render_page(view, summary=wishes.summary)
    from repro_runner.explain.render.terminal import Screen, render_terminal

    return render_terminal(view, wishes.screen or Screen(), summary=wishes.summary)


def render_markdown(view: ReportView, *, summary: bool = False) -> str:
    """GitHub-flavoured Markdown, to paste into an issue: the whole report, or its summary by category.

    No text of a program can become markup: all of it goes through a filter in the template.
    """
    from repro_runner.output.templates import text_templates

    return text_templates(_TEMPLATES).get_template("explain.md.j2").render(view=view, summary=summary)


def render_page(view: ReportView, *, summary: bool = False) -> str:
    """One HTML page that needs nothing else; the same report gives the same bytes."""
    style = page_style((_TEMPLATES / "explain.css").read_text("utf-8"))
    return _pages().get_template("explain.html.j2").render(view=view, summary=summary, site=SITE, **style)


def render_notebook(view: ReportView) -> str:
    """A row per site; a notebook brings its own page, fonts and colours."""
    style = Markup((_TEMPLATES / "notebook.css").read_text("utf-8"))  # our own file
    return _pages().get_template("notebook.html.j2").render(view=view, style=style)


def _pages() -> Environment:
    from repro_runner.output.templates import html_templates

    environment = html_templates(_TEMPLATES)
    environment.filters["coloured"] = _coloured
    return environment


def _coloured(
    lines: tuple[ExcerptLine, ...] | tuple[ChangedLine, ...],
) -> list[tuple[ExcerptLine | ChangedLine, Markup]]:
    """Each line with its text in colours; one that is half a string is coloured as well as it goes."""
    return [(line, Markup(highlight_python(line.text).rstrip("\n"))) for line in lines]  # escaped already
