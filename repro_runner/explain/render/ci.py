"""The formats of CI: SARIF, annotations on GitHub, JUnit, GitLab's code quality, and a badge."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from registry.ids import SITE
from repro_runner.explain.render.brief import brief_text, headline
from repro_runner.explain.render.view import ReportView, SiteView
from repro_runner.explain.site import Site
from repro_runner.output.places import in_library, located
from repro_runner.output.terminal import plain

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})
_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """A site as CI shows it: beside a line of a file in the repository, if there is one on the way to the break."""

    site: Site
    view: SiteView
    path: str
    """From the root of the repository, or whatever is known."""
    line: int
    allowed: bool
    fingerprint: str
    """The same after lines have moved."""


def render_ci(
    form: str, sites: Sequence[Site], view: ReportView, *, allowed: AbstractSet[Site], folder: Path, fails: bool
) -> str:
    """The sites in a format of CI_FORMATS. `fails` says that breaks which are not allowed fail the job."""
    return CI_FORMATS[form](tuple(_annotations(sites, view.sites, allowed, folder)), view, fails)


def _annotations(
    sites: Iterable[Site], views: Iterable[SiteView], allowed: AbstractSet[Site], folder: Path
) -> Iterator[Annotation]:
    seen: Counter[tuple[str, ...]] = Counter()
    for site, view in zip(sites, views, strict=True):
        path, line = _place(site, folder)
        what = (view.gb_id, path, site.function, site.source.strip())
        seen[what] += 1
        text = "\0".join((*what, str(seen[what])))
        yield Annotation(
            site=site,
            view=view,
            path=path,
            line=max(line, 1),
            allowed=site in allowed,
            fingerprint=hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest(),
        )


def _place(site: Site, folder: Path) -> tuple[str, int]:
    """The innermost line in the repository. A break in a library belongs to the line that leads there."""
    frames = [(frame.file, frame.line) for frame in site.stack[:-1]] + [(site.file, site.line)]
    for file, line in reversed(frames):
        if file and (inside := _in_repository(located(file, folder), folder)):
            return inside, line
    return (site.file, site.line) if site.file else (site.log, site.log_line)


def _in_repository(path: Path, folder: Path) -> str:
    """The path from `folder`; empty for a file that is not below it. A log may come from another checkout."""
    if in_library(path):
        return ""
    if path.is_relative_to(folder):
        return path.relative_to(folder).as_posix()
    ends = (Path(*path.parts[start:]) for start in range(1, len(path.parts)))
    return next((end.as_posix() for end in ends if len(end.parts) > 1 and (folder / end).is_file()), "")


def _sarif(annotations: Sequence[Annotation], view: ReportView, fails: bool) -> str:
    rules = {one.view.gb_id: _rule(one.view) for one in annotations}
    run = {
        "tool": {
            "driver": {
                "name": "graphbreak",
                "version": version("graph-break-registry"),
                "informationUri": SITE,
                "rules": list(rules.values()),
            }
        },
        "invocations": [_invocation(view)],
        "results": [_result(one, list(rules).index(one.view.gb_id), fails) for one in annotations],
    }
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(view: SiteView) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": view.gb_id, "shortDescription": {"text": view.title or view.gb_id}}
    if view.lead:
        rule["fullDescription"] = {"text": view.lead}
    if view.link:
        rule |= {"helpUri": view.link, "help": {"text": f"{headline(view)}\n{view.link}"}}
    return rule


def _invocation(view: ReportView) -> dict[str, Any]:
    if not view.ended:
        return {"executionSuccessful": True}
    told = {"level": "error", "message": {"text": view.ended}}
    return {"executionSuccessful": False, "toolExecutionNotifications": [told]}


def _result(one: Annotation, rule: int, fails: bool) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": one.view.gb_id,
        "ruleIndex": rule,
        "level": "note" if one.allowed else "error" if fails else "warning",
        "message": {"text": brief_text(one.view)},
        "locations": [_location(one.path, one.line, one.site.function)],
        "partialFingerprints": {"graphBreak/v1": one.fingerprint},
    }
    if one.allowed:
        result["suppressions"] = [{"kind": "external", "justification": "the allow-list has it"}]
    return result


def _location(path: str, line: int, function: str) -> dict[str, Any]:
    uri = quote(path, errors="backslashreplace")
    file = {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": file, "region": {"startLine": line}}}
    return place | ({"logicalLocations": [{"name": function, "kind": "function"}]} if function else {})


def _github(annotations: Sequence[Annotation], view: ReportView, fails: bool) -> str:
    """Commands that GitHub's runner turns into annotations beside the lines of a pull request."""
    level = "error" if fails else "warning"
    lines = [
        f"::{level} file={one.path.translate(_PROPERTY)},line={one.line},"
        f"title={_title(one).translate(_PROPERTY)}::{brief_text(one.view).translate(_MESSAGE)}"
        for one in annotations
        if not one.allowed
    ]
    lines += [f"::error::{view.ended.translate(_MESSAGE)}"] if view.ended else []
    return "".join(f"{line}\n" for line in (*lines, f"::notice::{view.totals.translate(_MESSAGE)}"))


def _title(one: Annotation) -> str:
    return plain(f"{one.view.gb_id}: {one.view.title}")


def _junit(annotations: Sequence[Annotation], view: ReportView, fails: bool) -> str:  # noqa: ARG001  a JUnit file has no warnings
    failed = sum(not one.allowed for one in annotations)
    counts = {"tests": str(max(len(annotations), 1)), "failures": str(failed), "errors": str(int(bool(view.ended)))}
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "graph breaks", **counts})
    if not annotations:
        ElementTree.SubElement(suite, "testcase", {"classname": plain(view.program), "name": "no graph breaks"})
    for one in annotations:
        path, line = plain(one.path), str(one.line)
        name = f"{_title(one)} at {path}:{line}"
        case = ElementTree.SubElement(suite, "testcase", {"classname": path, "name": name, "file": path, "line": line})
        if one.allowed:
            ElementTree.SubElement(case, "system-out").text = "allowed"
        else:
            said = {"type": one.view.gb_id, "message": headline(one.view)}
            ElementTree.SubElement(case, "failure", said).text = brief_text(one.view)
    if view.ended:
        case = ElementTree.SubElement(suite, "testcase", {"classname": plain(view.program), "name": "runs to its end"})
        ElementTree.SubElement(case, "error", {"message": plain(view.ended)})
        suite.set("tests", str(len(suite)))
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _gitlab(annotations: Sequence[Annotation], view: ReportView, fails: bool) -> str:  # noqa: ARG001  it has no other entries
    found = [
        {
            "description": headline(one.view),
            "check_name": one.view.gb_id,
            "fingerprint": one.fingerprint,
            "severity": "major" if fails else "minor",
            "location": {"path": one.path, "lines": {"begin": one.line}},
        }
        for one in annotations
        if not one.allowed
    ]
    return json.dumps(found, indent=1) + "\n"


def _badge(annotations: Sequence[Annotation], view: ReportView, fails: bool) -> str:  # noqa: ARG001  the colour tells
    """What shields.io's endpoint badge reads. A badge for a program that failed must not look like good news."""
    new = sum(not one.allowed for one in annotations)
    allowed = len(annotations) - new
    said = ", ".join(f"{count} {word}".strip() for count, word in ((new, ""), (allowed, "allowed")) if count)
    colour = "red" if new else "yellowgreen" if allowed else "brightgreen"
    known = {"message": said or "none", "color": colour}
    badge = {"message": "not known", "color": "lightgrey", "isError": True} if view.ended else known
    return json.dumps({"schemaVersion": 1, "label": "graph breaks", **badge}, indent=1) + "\n"


CI_FORMATS: Mapping[str, Callable[[Sequence[Annotation], ReportView, bool], str]] = {
    "sarif": _sarif,
    "github": _github,
    "junit": _junit,
    "gitlab": _gitlab,
    "badge": _badge,
}
"""Name of the format -> what makes its text of the annotations, the report, and whether breaks fail the job."""
