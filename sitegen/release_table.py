"""The table that answers "is it my torch version?": a row per release, what is known of it in few signs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from registry.ids import is_local
from registry.model import VERIFIER, Evidence, GraphBreak, InRelease
from sitegen.changes import changes_in
from sitegen.links import source_label, source_url

LEGEND = (
    "● the program breaks with this id · ○ it no longer breaks · ✓ listed, or a fix works · "
    "✗ the program fails, or no fix works · – not listed, not emitted, or can't run there · a dot: not run. "
    "“line” is the line in torch's source that emits the break. “mock” is the mock accelerator."
)

_CHANGES = {"retired": "no longer emitted"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One sign of the table, what it means, and how it looks; a word where no sign will do."""

    sign: str
    look: str
    title: str
    word: str = ""
    link: str = ""


_UNKNOWN = Cell("·", "no", "not run")
_VERDICTS = {
    "verified": Cell("●", "breaks", "breaks, and a fix works"),
    "reproduced": Cell("●", "breaks", "breaks"),
    "stopped": Cell("○", "works", "no longer breaks: the program compiles"),
    "other id": Cell("", "other", "breaks with another id", word="other id"),
    "not applicable": Cell("–", "no", "can't run there"),
    "failed": Cell("✗", "other", "the program fails"),
}


def release_rows(gb: GraphBreak) -> list[dict[str, Any]]:
    """Newest release first, from the first release that knew the id."""
    return [_row(gb, seen) for seen in reversed(gb.history.since_known)]


def _row(gb: GraphBreak, seen: InRelease) -> dict[str, Any]:
    runs = {one.environment.device: one for one in gb.best_evidence if one.environment.torch == seen.torch}
    return {
        "torch": seen.torch,
        "change": ", ".join(_CHANGES.get(change, change) for change in changes_in(gb.history, seen.torch)),
        "listed": Cell("✓", "works", "listed") if seen.registered else Cell("–", "no", "not listed"),
        "sites": [
            {
                "url": source_url(site, seen.torch),
                "label": source_label(site),
                "function": site.function,
                "short": str(site.line),
            }
            for site in seen.call_sites
        ],
        "cells": [
            _verdict(runs.get("cpu"), "eager"),
            _verdict(runs.get("cuda"), "eager"),
            _fix(runs),
            _backend(runs, "inductor"),
            _backend(runs, "mock"),
        ],
    }


def _verdict(evidence: Evidence | None, backend: str) -> Cell:
    verdict = evidence.verdicts.get(backend) if evidence else None
    if evidence is None or verdict is None:
        return _UNKNOWN
    cell = _VERDICTS.get(verdict, replace(_UNKNOWN, title=verdict, word=verdict))
    if verdict == "other id" and backend == "eager" and evidence.ids:
        gb_id = evidence.ids[0]
        link = "" if is_local(gb_id) else f"{gb_id.lower()}.html"  # a local id has a page only when captured
        return replace(cell, word=gb_id, link=link)
    return cell


def _fix(runs: dict[str, Evidence]) -> Cell:
    fixes = [held for evidence in runs.values() for held in evidence.fixes.values()]
    if not fixes:
        return _UNKNOWN
    if not any(fixes):
        return Cell("✗", "other", "no fix works")
    said = "every fix works" if all(fixes) else "a fix works, but not every one"
    if any(evidence.fails_with for evidence in runs.values()):
        said += ", but not with every backend"
    is_earlier = all(evidence.verifier < VERIFIER for evidence in runs.values())
    return Cell("✓", "works", f"{said}; gradients not compared (older check)" if is_earlier else said)


def _backend(runs: dict[str, Evidence], backend: str) -> Cell:
    """On any device: the backend tells whether break and fix are the same there."""
    found = [evidence for evidence in runs.values() if backend in evidence.verdicts]
    return _verdict(found[0], backend) if found else _UNKNOWN
