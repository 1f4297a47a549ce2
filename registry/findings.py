"""Read `upstream_findings.yml`: where torch's own text contradicts what torch does, ready to be reported upstream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from registry.datafile import shown
from registry.errors import InvalidInput, Problem
from registry.model import Finding
from registry.yamlfile import read_yaml

KINDS = (
    "silently wrong result",
    "internal error instead of a break",
    "hint does not help",
    "wrong message",
    "raw Python in the text",
    "two ids for one type",
    "wording never appears",
    "other",
)
"""The gravest first, as the dashboard shows them."""


def read_findings(path: Path) -> tuple[Finding, ...]:
    """Return the findings, sorted by id; all problems at once as InvalidInput. No file: nothing was found."""
    if not path.exists():
        return ()
    entries = read_yaml(path) or []
    if not isinstance(entries, list):
        raise InvalidInput([Problem(f"{shown(path)}:1", "needs a list of {id, kind, finding, evidence}")])
    problems = [Problem(f"{shown(path)}:1", text) for entry in entries for text in _check(entry)]
    if problems:
        raise InvalidInput(problems)
    found = [
        Finding(gb_id=one["id"], kind=one["kind"], finding=one["finding"].strip(), evidence=one["evidence"].strip())
        for one in entries
    ]
    return tuple(sorted(found, key=lambda one: (one.gb_id, one.kind, one.finding)))


def _check(entry: Any) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield f"{entry!r} is no finding; needs id, kind, finding and evidence"
        return
    name = entry.get("id") or "an entry"
    for field in ("id", "kind", "finding", "evidence"):
        if not isinstance(entry.get(field), str) or not entry[field].strip():
            yield f"{name}: needs a text `{field}`"
    if isinstance(entry.get("kind"), str) and entry["kind"] not in KINDS:
        yield f"{name}: {entry['kind']!r} is no kind; one of: {', '.join(KINDS)}"
