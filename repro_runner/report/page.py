"""A run as one HTML page that needs nothing else: styles and pictures are inside, and there is no script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from registry.ids import SITE
from registry.stylesheet import read_look
from repro_runner.output.html import fit_for_html, highlight_python
from repro_runner.output.units import size
from repro_runner.report.contents import RunContents
from repro_runner.report.parts.catalogue import MALFORMED, Judged, damaged, judge_parts, missing_parts
from repro_runner.report.parts.verdict import MARKS

_TEMPLATES = Path(__file__).with_name("templates")
_STYLE = _TEMPLATES / "report.css"
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
    environment = _template_environment()
    judged = judge_parts(contents)
    style = Markup(read_look() + _STYLE.read_text("utf-8"))  # our own files
    return environment.get_template("report.html.j2").render(
        subject=contents.manifest.get("subject") or contents.run.id,
        run=contents.run.id,
        verb=contents.manifest.get("verb", ""),
        when=_when(contents.manifest.get("started")),
        environment=_environment(contents.manifest),
        settings=_settings(contents.manifest),
        judged=judged,
        sections=[_section(environment, each, contents) for each in judged],
        missing=missing_parts(contents),
        unreadable={name: why for name, why in contents.unreadable.items() if name.startswith(("graphs/", "failures"))},
        style=style,
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii"),
        site=SITE,
    )


@cache
def _template_environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=fit_for_html,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["marks"] = MARKS
    environment.filters |= {"python": highlight_python, "size": size}
    return environment


def _section(environment: jinja2.Environment, judged: Judged, contents: RunContents) -> dict[str, Any]:
    """The part's own template, rendered by itself: what is wrong with one document spoils only its section."""
    body, problem = Markup(), ""
    if judged.document is None:
        problem = judged.verdict.line
    else:
        try:
            view = judged.part.view(judged.document, contents)
            template = environment.get_template(f"{judged.part.kind}.html.j2")
            body = Markup(template.render(view))  # escaped by the template
        except (*MALFORMED, jinja2.UndefinedError) as error:
            problem = damaged(error)
    return {"part": judged.part, "state": judged.verdict.state, "body": body, "problem": problem}


def _when(started: object) -> str:
    """In universal time: the report may be read anywhere."""
    try:
        return f"{datetime.fromisoformat(str(started)):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return ""


def _environment(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    found = manifest.get("environment")
    known = found if isinstance(found, Mapping) else {}
    return [(title, str(known[name])) for name, title in _ENVIRONMENT.items() if known.get(name)]


def _settings(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What else the run was told."""
    known = {"kind", "schema", "verb", "subject", "started", "environment", "pid", "host"}
    return [
        (name.replace("_", " "), str(value))
        for name, value in manifest.items()
        if name not in known and value not in (None, "", False)
    ]
