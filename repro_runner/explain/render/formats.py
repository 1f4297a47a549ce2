"""Render a report with the registry's answers for its breaks: terminal, Markdown, HTML, and the formats of CI."""

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
from repro_runner.explain.render.ci import CI_FORMATS, render_ci
from repro_runner.explain.render.source_lines import ChangedLine, ExcerptLine, read_excerpts
from repro_runner.explain.render.view import Outcome, ReportView, view_outcome
from repro_runner.output.html import highlight_python, page_style

if TYPE_CHECKING:
    from jinja2 import Environment

    from repro_runner.explain.render.terminal import Screen

_TEMPLATES = Path(__file__).parent.parent / "templates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Options for showing a report."""

    format: str = "terminal"
    summary: bool = False
    screen: Screen | None = None
    """The terminal. Without one, the text is plain and 80 columns wide."""
    folder: Path | None = None
    """Paths are shown relative to this folder. Without one, to the current folder."""
    fullgraph_off: bool = False
    fails: bool = False
    """Whether breaks that are not allowed fail the job, for the formats of CI."""


@cache
def read_registry() -> Registry:
    """Read the registry in the package. That takes a second, so it is done once per process."""
    return merge_registry(read_package())


@cache
def read_answers() -> Advisor:
    """The registry's answers."""
    return Advisor(read_registry())


def read_view(outcome: Outcome, wishes: Wishes) -> ReportView:
    """The view of a report, with the source lines around its sites."""
    folder = wishes.folder or Path.cwd()
    return view_outcome(
        outcome,
        read_answers(),
        folder=folder,
        excerpts=read_excerpts(outcome.report, folder),
        fullgraph_off=wishes.fullgraph_off,
    )


def read_and_render(outcome: Outcome, wishes: Wishes) -> str:
    """The whole text of a report in the format that `wishes` names."""
    view = read_view(outcome, wishes)
    if wishes.format == "md":
        return render_markdown(view, summary=wishes.summary)
    if wishes.format == "html":
        return render_page(view, summary=wishes.summary)
    if wishes.format in CI_FORMATS:
        allowed = outcome.judgement.allowed if outcome.judgement else frozenset()
        folder = wishes.folder or Path.cwd()
        sites = outcome.report.sites
        return render_ci(wishes.format, sites, view, allowed=allowed, folder=folder, fails=wishes.fails)
    from repro_runner.explain.render.terminal import Screen, render_terminal

    return render_terminal(view, wishes.screen or Screen(), summary=wishes.summary)


def render_markdown(view: ReportView, *, summary: bool = False) -> str:
    """The report, or its summary by category, as GitHub-flavoured Markdown to paste into an issue.

    The template puts all text of a program through a filter, so that none of it becomes markup.
    """
    from repro_runner.output.templates import text_templates

    return text_templates(_TEMPLATES).get_template("explain.md.j2").render(view=view, summary=summary)


def render_page(view: ReportView, *, summary: bool = False) -> str:
    """The report as one self-contained HTML page. The same report always gives the same bytes."""
    style = page_style((_TEMPLATES / "explain.css").read_text("utf-8"))
    return _pages().get_template("explain.html.j2").render(view=view, summary=summary, site=SITE, **style)


def render_notebook(view: ReportView) -> str:
    """HTML for a notebook: one row per site. The notebook has its own page, fonts and colours."""
    style = Markup((_TEMPLATES / "notebook.css").read_text("utf-8"))  # a file of this project: no escaping needed
    return _pages().get_template("notebook.html.j2").render(view=view, style=style)


def _pages() -> Environment:
    from repro_runner.output.templates import html_templates

    environment = html_templates(_TEMPLATES)
    environment.filters["coloured"] = _coloured
    return environment


def _coloured(
    lines: tuple[ExcerptLine, ...] | tuple[ChangedLine, ...],
) -> list[tuple[ExcerptLine | ChangedLine, Markup]]:
    """Each line with its highlighted text. A line that is only part of a string may get the wrong colours."""
    return [(line, Markup(highlight_python(line.text).rstrip("\n"))) for line in lines]  # escaped already
