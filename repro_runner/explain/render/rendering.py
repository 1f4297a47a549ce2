"""A report in any of its formats, with what the registry knows of its breaks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from registry.advice import Answers
from registry.knowledge import read_package
from registry.merge import merge_registry
from repro_runner.explain.document import report_document
from repro_runner.explain.render.excerpt import read_excerpts
from repro_runner.explain.render.found import Found
from repro_runner.explain.render.view import ReportView, view_found

if TYPE_CHECKING:
    from registry.model import Registry
    from repro_runner.explain.render.terminal import Screen


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
def read_answers() -> Answers:
    """What that registry answers."""
    return Answers(read_registry())


def view_of(found: Found, wishes: Wishes) -> ReportView:
    """What is shown of the report, with the lines around its sites."""
    folder = wishes.folder or Path.cwd()
    return view_found(
        found,
        read_answers(),
        folder=folder,
        excerpts=read_excerpts(found.report, folder),
        fullgraph_off=wishes.fullgraph_off,
    )


def read_and_render(found: Found, wishes: Wishes) -> str:
    """The whole text."""
    if wishes.format == "json":
        return document_text(found)
    view = view_of(found, wishes)
    if wishes.format == "md":
        from repro_runner.explain.render.markdown import render_markdown

        return render_markdown(view, summary=wishes.summary)
    if wishes.format == "html":
        from repro_runner.explain.render.page import render_page

        return render_page(view, summary=wishes.summary)
    from repro_runner.explain.render.terminal import Screen, render_terminal

    return render_terminal(view, wishes.screen or Screen(), summary=wishes.summary)


def document_text(found: Found) -> str:
    """The JSON document, as it is printed and saved."""
    document = report_document(found.report, read_answers(), found.judgement, found.suggestions)
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
