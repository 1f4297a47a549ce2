"""Render report.md, the text of a fix report. This module reads no files except its template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.advice import Advice, Advisor, telling_hints
from registry.ids import page_address
from registry.message_layout import HINT, MORE_DETAILS
from registry.model import GraphBreak, Registry
from registry.versions import version_key
from repro_runner.environment import TITLES
from repro_runner.explain.render.view import find_advice
from repro_runner.explain.site import Site
from repro_runner.fix_report.findings import Cause, Findings, shown_site
from repro_runner.fix_report.fixed_program import Fixing
from repro_runner.fix_report.patches.library import find_library
from repro_runner.fix_report.repros import CONFIRMED, Repros, script_name
from repro_runner.output.places import in_library, in_package
from repro_runner.output.templates import text_templates
from repro_runner.output.units import counted

_TEMPLATES = Path(__file__).with_name("templates")
_OF_MANY_BREAKS = ("This graph break is fundamental", "This graph break may have been caused by an earlier graph break")


_PATH = re.compile(r"""(?<=")/[^"\n]+\.py(?=")|(?<![\w.:/-])/[^\s:,;()'"]+\.py""")


def render_report(
    findings: Findings,
    repros: Repros,
    fixing: Fixing | None,
    registry: Registry,
    issues: Mapping[str, Site] | None = None,
) -> str:
    """The text of report.md. `fixing` is None if there was no program to fix. `issues` has the site of each file with a
    text for a library."""
    answers = Advisor(registry)
    known = {gb.gb_id: gb for gb in registry}
    release = findings.environment.get("torch", "")
    sites = [cause.gb_id for cause in findings.causes for _ in cause.sites]
    causes: list[dict[str, Any]] = []
    first_of: dict[str, int] = {}  # the number of the cause that explains an id or a category
    for number, cause in enumerate(findings.causes, 1):
        advice = find_advice(cause.sites[0], answers, torch=release)
        answer = next((one for one in advice if one.gb_id == cause.gb_id), None)
        causes.append(
            {
                "number": number,
                "cause": cause,
                "title": cause.gb_types[0] if cause.gb_types else "unknown break",
                "links": [(gb_id, page_address(gb_id)) for gb_id in cause.gb_ids],
                "answer": answer,
                "hints": _hints(answer, cause.message),
                "same_id": first_of.get(cause.gb_id, 0) if answer else 0,
                "same_category": first_of.get(answer.category.key, 0) if answer else 0,
                "newer": _newer(known.get(cause.gb_id), answer, release),
                "repros": repros.get(number - 1, ()),
            }
        )
        if answer:
            first_of = {cause.gb_id: number, answer.category.key: number, **first_of}
    return _render(
        "report.md.j2",
        findings=findings,
        environment=_environment(findings.environment),
        causes=causes,
        places=len(sites),
        categories=[(category.title, len(ids)) for category, ids in answers.by_category(sites).items()],
        fixing=fixing,
        issues=issues or {},
        first_repro=next((one.name for each in repros.values() for one in each), ""),
    )


def library_sites(findings: Findings) -> dict[str, Site]:
    """The sites in installed libraries, each with the name of the file for its issue text. A log does not have the
    versions of libraries, so it has none."""
    sites = (site for cause in findings.causes for site in cause.sites) if findings.program else ()
    return {
        f"issues/{Path(script_name(site.gb_id or 'unknown', site.file, site.line)).stem}.md": site
        for site in sites
        if in_package(Path(site.file))
    }


def render_issue(site: Site, findings: Findings, repros: Repros, fixing: Fixing | None) -> str:
    """A text to report a break to the library whose line it is. It has only what was run."""
    place = shown_site(site)
    scripts = (one for each in repros.values() for one in each)
    fixed = fixing.fixed if fixing and all(one.where != place for one in fixing.unfixed) else None
    patch = next((one for one in fixed.patches if one.in_library and place in one.places), None) if fixed else None
    return _render(
        "issue.md.j2",
        site=site,
        link=page_address(site.gb_id) if site.gb_id else "",
        library=find_library(site.file) or f"{in_package(Path(site.file)).partition('/')[0]}, version not known",
        environment=_environment(findings.environment).split(", "),
        repro=next((one for one in scripts if one.verdict == CONFIRMED and one.site and place in one.text), None),
        fixed=fixed,
        patch=patch,
    )


def _render(template: str, **values: Any) -> str:
    templates = text_templates(_TEMPLATES)
    templates.filters |= {
        "shown": shown_site,
        "frequency": frequency,
        "short_frequency": short_frequency,
        "message": _message,
        "without_folders": _without_folders,
    }
    return templates.get_template(template).render(values)


def _without_folders(text: str) -> str:
    """Shorten every absolute path of a Python file to its path in its library, or to its name."""
    return _PATH.sub(lambda found: in_library(Path(found[0])) or Path(found[0]).name, text)


def frequency(site: Site) -> str:
    """How often a site ran: `ran 15 times, in 2 compilations`, or why that is not known."""
    compiled = counted(site.compiled, "compilation")
    if site.ran is None:
        why = f": {site.frequency.why_unknown}" if site.frequency.why_unknown else ""
        return f"seen in {compiled}; how often it ran is not known{why}"
    return f"ran {counted(site.ran, 'time')}, in {compiled}"


def short_frequency(cause: Cause) -> str:
    """How often all sites of a cause ran: `ran 15 times`, or `at least` if some were not counted."""
    counts = [site.ran for site in cause.sites]
    if known := sum(count or 0 for count in counts):
        return f"ran {'at least ' if None in counts else ''}{counted(known, 'time')}"
    return f"in {counted(sum(site.compiled for site in cause.sites), 'compilation')}"


def _hints(answer: Advice | None, message: str) -> list[str]:
    """The registry's hints, if torch's message has none. Hints with placeholders are left out."""
    if answer is None or f"{HINT}:" in message:
        return []
    return [hint for hint in telling_hints(answer.hints) if not hint.startswith(_OF_MANY_BREAKS) and "{" not in hint]


def _message(text: str) -> str:
    """The message without the link in its last line, which the report shows below it."""
    return re.sub(rf"\n\s*{re.escape(MORE_DETAILS)} \S+\s*\Z", "", text)


def _newer(gb: GraphBreak | None, answer: Advice | None, release: str) -> str:
    """A sentence on whether the registry's program still breaks in a newer torch."""
    if answer is not None and answer.stopped_in:
        return f"In torch {answer.stopped_in} the registry's smallest program for this break compiles whole."
    runs = [
        seen.environment.torch
        for seen in (gb.fresh_evidence if gb else ())
        if seen.shows_it and version_key(seen.environment.torch) > version_key(release)
    ]
    if not runs:
        return "The registry has not run its program for this break with a newer torch."
    return f"In torch {max(runs, key=version_key)}, the newest that was tried, the registry's program still breaks so."


def _environment(environment: Mapping[str, str]) -> str:
    found = [f"{title} {environment[key]}" for key, title in TITLES.items() if environment.get(key)]
    return ", ".join(found)
