"""A run, or several, as one HTML page that needs nothing else: styles and pictures are inside, there is no script."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from registry.documents import Document
from registry.ids import SITE
from repro_runner.environment import TITLES
from repro_runner.output.html import page_style
from repro_runner.output.templates import html_templates
from repro_runner.output.units import counted
from repro_runner.report.contents import RunContents, subject_of
from repro_runner.report.parts import BREAKS, DOUBT, MARKS, PLAIN, WORKS
from repro_runner.report.parts.catalogue import (
    MALFORMED,
    PARTS,
    Judged,
    damaged,
    judge_parts,
    missing_parts,
    unchecked,
)
from repro_runner.report.several import reports_document, several_view
from repro_runner.runs.run_folder import REPORT

TEMPLATES = Path(__file__).with_name("templates")
_ENVIRONMENT = {**TITLES, "project": "graphbreak"}
_STATES = {WORKS: "passed", DOUBT: "doubtful", BREAKS: "failed", PLAIN: "measured"}


def render_report(contents: RunContents) -> str:
    """The page; the same run gives the same bytes."""
    judged = judge_parts(contents)
    return _render(
        "report.html.j2",
        title=subject_of(contents),
        about=contents.run.id,
        verb=contents.manifest.get("verb", ""),
        when=shown_time(contents.manifest.get("started")),
        environment=describe_environment(contents.manifest),
        settings=describe_settings(contents.manifest),
        judged=judged,
        sections=[render_section(each, contents) for each in judged],
        missing=missing_parts(contents),
        unchecked=unchecked(contents),
        unreadable={name: why for name, why in contents.unreadable.items() if name.startswith(("graphs/", "failures"))},
    )


def render_reports(found: Sequence[RunContents], unreadable: Mapping[str, str], folder: Path) -> str:
    """The page over several runs. It links to their own pages, relative to `folder`, in which it will be."""
    document = reports_document(found, unreadable)
    runs = {each["path"]: {**each, "place": place} for place, each in enumerate(document["runs"], 1)}

    def page_of(run: str) -> str:
        """Its own page; empty if it was not written."""
        page = Path(run, REPORT)
        return quote(os.path.relpath(page, folder)) if page.is_file() else ""

    def link(run: str, part: str) -> str:
        return f"{page_of(run)}#{part}" if page_of(run) else f"#run-{runs[run]['place']}-{part}"

    return _render(
        "several.html.j2",
        title=f"{counted(len(found), 'run')} of {counted(len(document['models']), 'model')}",
        about=" to ".join(dict.fromkeys(each["id"] for each in (document["runs"][0], document["runs"][-1]))),
        document=document,
        unchecked=unchecked(*found),
        parts={part.kind: part.title for part in PARTS},
        states=_STATES,
        runs={path: {**run, "when": shown_time(run["started"]), "page": page_of(path)} for path, run in runs.items()},
        link=link,
        **several_view(document, found),
    )


def _render(template: str, **content: Any) -> str:
    style = page_style((TEMPLATES / "report.css").read_text("utf-8"))
    return html_templates(TEMPLATES).get_template(template).render(**content, marks=MARKS, site=SITE, **style)


def render_section(judged: Judged, contents: RunContents, *, apart: bool = False) -> dict[str, Any]:
    """`body` or `problem` of a part. With `apart`, drawings and programs are left out: they are shown elsewhere.

    Render the part's own template by itself, so that a damaged document spoils only its own section."""
    body, problem = Markup(), ""
    if judged.document is None:
        problem = judged.verdict.line
    else:
        try:
            view = judged.part.view(judged.document, contents)
            template = html_templates(TEMPLATES).get_template(f"{judged.part.kind}.html.j2")
            body = Markup(template.render(view, apart=apart))  # escaped by the template
        except (*MALFORMED, jinja2.UndefinedError) as error:
            problem = damaged(error)
    return {"part": judged.part, "state": judged.verdict.state, "body": body, "problem": problem}


def shown_time(started: object) -> str:
    """The time in UTC, since a report may be read anywhere; empty if it is malformed."""
    try:
        return f"{datetime.fromisoformat(str(started)):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return ""


def describe_environment(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Where a run was made, by title."""
    found = manifest.get("environment")
    known = found if isinstance(found, Mapping) else {}
    return [(title, str(known[name])) for name, title in _ENVIRONMENT.items() if known.get(name)]


def describe_settings(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The other fields of the manifest: the settings of the run."""
    known = {*Document.__required_keys__, "verb", "subject", "started", "environment", "pid", "host"}
    return [
        (name.replace("_", " "), _in_words(value))
        for name, value in manifest.items()
        if name not in known and value not in (None, "", False)
    ]


def _in_words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "yes" if value is True else str(value)
