"""A run as one HTML page that needs nothing else: styles and pictures are inside, and there is no script."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from registry.documents import Document
from registry.ids import SITE
from repro_runner.output.html import page_style
from repro_runner.output.templates import html_templates
from repro_runner.report.contents import RunContents
from repro_runner.report.parts import MARKS
from repro_runner.report.parts.catalogue import MALFORMED, Judged, damaged, judge_parts, missing_parts

_TEMPLATES = Path(__file__).with_name("templates")
_ENVIRONMENT = {
    "torch": "torch",
    "python": "Python",
    "device": "device",
    "device_name": "device name",
    "platform": "platform",
    "project": "graphbreak",
}


def render_report(contents: RunContents) -> str:
    """The page; the same run gives the same bytes."""
    judged = judge_parts(contents)
    return (
        html_templates(_TEMPLATES)
        .get_template("report.html.j2")
        .render(
            subject=contents.manifest.get("subject") or contents.run.id,
            run=contents.run.id,
            verb=contents.manifest.get("verb", ""),
            when=_when(contents.manifest.get("started")),
            environment=_environment(contents.manifest),
            settings=_settings(contents.manifest),
            judged=judged,
            sections=[_section(each, contents) for each in judged],
            missing=missing_parts(contents),
            unreadable={
                name: why for name, why in contents.unreadable.items() if name.startswith(("graphs/", "failures"))
            },
            marks=MARKS,
            site=SITE,
            **page_style((_TEMPLATES / "report.css").read_text("utf-8")),
        )
    )


def _section(judged: Judged, contents: RunContents) -> dict[str, Any]:
    """Render the part's own template by itself, so that a damaged document spoils only its own section."""
    body, problem = Markup(), ""
    if judged.document is None:
        problem = judged.verdict.line
    else:
        try:
            view = judged.part.view(judged.document, contents)
            template = html_templates(_TEMPLATES).get_template(f"{judged.part.kind}.html.j2")
            body = Markup(template.render(view))  # escaped by the template
        except (*MALFORMED, jinja2.UndefinedError) as error:
            problem = damaged(error)
    return {"part": judged.part, "state": judged.verdict.state, "body": body, "problem": problem}


def _when(started: object) -> str:
    """The time in UTC, since a report may be read anywhere; empty if it is malformed."""
    try:
        return f"{datetime.fromisoformat(str(started)):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return ""


def _environment(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = manifest.get("environment")
    known = found if isinstance(found, Mapping) else {}
    return [(title, str(known[name])) for name, title in _ENVIRONMENT.items() if known.get(name)]


def _settings(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The other fields of the manifest: the settings of the run."""
    known = {*Document.__required_keys__, "verb", "subject", "started", "environment", "pid", "host"}
    return [
        (name.replace("_", " "), str(value))
        for name, value in manifest.items()
        if name not in known and value not in (None, "", False)
    ]
