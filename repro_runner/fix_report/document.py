"""handover.json: the same as report.md, for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from registry.ids import page_address
from repro_runner.fix_report.contents import Fixing, Repros
from repro_runner.fix_report.findings import Cause, Findings
from repro_runner.fix_report.folder import KIND, SCHEMA


def handover_document(findings: Findings, repros: Repros, fixing: Fixing | None) -> dict[str, Any]:
    """All but the texts: they lie beside it."""
    return {
        "kind": KIND,
        "schema": SCHEMA,
        "subject": findings.subject,
        "environment": dict(findings.environment),
        "facts": dict(findings.facts),
        "remarks": list(findings.remarks),
        "causes": [_cause(cause, repros.get(number, ())) for number, cause in enumerate(findings.causes)],
        "fixed": _fixed(fixing),
        "why_no_fixed": fixing.why_none if fixing else "there was no program to fix",
        "unfixed": [asdict(one) for one in fixing.unfixed] if fixing else [],
        "runs": fixing.runs if fixing else 0,
    }


def _cause(cause: Cause, repros: Any) -> dict[str, Any]:
    places = [
        {key: value for key, value in asdict(place).items() if key not in ("stack", "source", "message")}
        for place in cause.locations
    ]
    return {
        "gb_ids": list(cause.gb_ids),
        "gb_types": list(cause.gb_types),
        "links": [page_address(gb_id) for gb_id in cause.gb_ids],
        "kind": cause.kind,
        "count": cause.count,
        "locations": places,
        "repros": [
            {
                "file": one.name,
                "origin": one.origin,
                "verdict": one.verdict,
                "said": one.said,
                "where": one.location.where if one.location else "",
            }
            for one in repros
        ],
    }


def _fixed(fixing: Fixing | None) -> dict[str, Any] | None:
    if fixing is None or fixing.fixed is None:
        return None
    fixed = asdict(fixing.fixed)
    kept = ("breaks_before", "breaks_after", "outputs", "patches")
    return {"file": fixed["name"], **{name: fixed[name] for name in kept}}
