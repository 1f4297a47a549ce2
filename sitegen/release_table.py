"""What answers "is it my torch version?": a sentence, a box per environment, a table with a row per release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from registry.ids import is_local
from registry.model import PROVEN, Environment, Evidence, GraphBreak, InRelease
from sitegen.changes import changes_in
from sitegen.links import source_label, source_url
from sitegen.sentences import comma_list, device_name

SIGNS = {
    "✗ fix": "breaks with this id, with a verified fix",
    "✗": "breaks with this id, without a verified fix",
    "✓": "compiles without a break",
    "GB…": "breaks with that id instead",
    "!": "the program fails",
    "–": "torch does not emit the break, or the program can't run there",
    "·": "not run",
}
"""The legend; docs/about.md has it too."""

_CHANGES = {"retired": "no longer emitted"}
_BACKENDS = {"eager": "", "inductor": "Inductor", "mock": "mock"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One sign, what it means, and how it looks; a word where no sign will do."""

    sign: str
    look: str
    title: str
    word: str = ""
    link: str = ""


_UNKNOWN = Cell("·", "unknown", "not run")
_NOT_EMITTED = Cell("–", "no", "not emitted")
_VERDICTS = {
    "verified": Cell("✗ fix", "breaks fixed", "breaks, with a verified fix"),
    "reproduced": Cell("✗", "breaks", "breaks, without a verified fix"),
    "stopped": Cell("✓", "works", "compiles without a break"),
    "other id": Cell("", "other", "breaks with another id", word="other id"),
    "not applicable": Cell("–", "no", "can't run there"),
    "failed": Cell("!", "fails", "the program fails"),
}


def environment_strip(gb: GraphBreak, environments: Iterable[Environment]) -> list[dict[str, Any]]:
    """A box for each environment in which programs were run, the oldest release first."""
    places = dict.fromkeys((one.torch, one.device) for one in environments)
    return [
        {"torch": torch, "device": "" if device == "cpu" else device_name(device), "cell": _box(gb, torch, device)}
        for torch, device in places
    ]


def upgrade_sentence(gb: GraphBreak, environments: Iterable[Environment]) -> str:
    """Where its programs broke, and whether a newer torch helps; empty if nothing is known."""
    ran = list(dict.fromkeys(one.torch for one in environments))
    broke = [torch for torch in ran if gb.verdict_in(torch) in PROVEN]
    if not broke:
        return _without_a_run(gb)
    devices = {seen.environment.device for seen in gb.best_evidence if seen.shows_it}
    others = comma_list(sorted(map(device_name, devices - {"cpu"})))
    also = f"{', also' if 'cpu' in devices else ''} on {others}" if others else ""
    return f"Breaks in torch {_spans(broke, ran)}{also}. {_whether_to_upgrade(gb, ran)}"


def _without_a_run(gb: GraphBreak) -> str:
    known = [seen.torch for seen in gb.history.releases]
    live = [seen.torch for seen in gb.history.releases if seen.live]
    if not live:
        return ""
    since = gb.history.silent_since(known[-1])
    stops = f" Since torch {since}, torch doesn't report this break any more." if since else ""
    return f"No program of ours causes it; the source of torch {_spans(live, known)} can report it.{stops}"


def _whether_to_upgrade(gb: GraphBreak, ran: Sequence[str]) -> str:
    newest = ran[-1]
    verdict = gb.verdict_in(newest)
    if verdict in PROVEN:
        runs = ((one.repro, seen) for one in gb.programs for seen in one.fresh_evidence if seen.shows_it)
        ours = ((repro.fixes, seen.fixes) for repro, seen in runs if seen.environment.torch == newest)
        kinds = {known[name] for known, held in ours for name, holds in held.items() if holds}
        way = next((words for kind, words in _WAYS.items() if kind in kinds), "")
        return f"Upgrading doesn't help{way}."
    if verdict == "stopped":
        since = list(takewhile(lambda torch: gb.verdict_in(torch) == "stopped", reversed(ran)))[-1]
        return f"Upgrading can help: since torch {since}, our program compiles without a break."
    if verdict == "other id":
        return f"In torch {newest}, our program breaks with another id: upgrading alone doesn't help."
    if silent := gb.history.silent_since(newest):
        return f"Since torch {silent}, torch doesn't report this break any more."
    why = "fails" if verdict == "failed" else "was not run"
    return f"We can't say whether upgrading helps: our program {why} in torch {newest}."


_WAYS = {"rewrite": "; a rewrite does", "flag": "; a setting does", "custom op": "; a custom operator does"}


def _spans(found: Sequence[str], known: Sequence[str]) -> str:
    """`2.8.0 to 2.10.0 and 2.13.0`: only releases that follow each other in `known` are joined."""
    spans: list[list[str]] = []
    for torch in found:
        if spans and known.index(torch) == known.index(spans[-1][-1]) + 1:
            spans[-1].append(torch)
        else:
            spans.append([torch])
    return comma_list(one[0] if len(one) == 1 else f"{one[0]} to {one[-1]}" for one in spans)


def _box(gb: GraphBreak, torch: str, device: str) -> Cell:
    ran = _verdict(gb.best_run(torch, device), "eager")
    return ran if gb.history.of(torch).live or ran.look not in ("no", "unknown") else _NOT_EMITTED


def release_table(gb: GraphBreak) -> dict[str, Any]:
    """`columns`: where its programs were run, CPU and eager first. `rows`: since the id is known, newest first."""
    ran = {(seen.environment.device, backend) for seen in gb.best_evidence for backend in seen.verdicts}
    columns = sorted(ran, key=lambda one: (one[0], list(_BACKENDS).index(one[1])))
    return {
        "columns": [" ".join(filter(None, (device_name(device), _BACKENDS[backend]))) for device, backend in columns],
        "rows": [_row(gb, seen, columns) for seen in reversed(gb.history.since_known)],
    }


def _row(gb: GraphBreak, seen: InRelease, columns: Sequence[tuple[str, str]]) -> dict[str, Any]:
    changes = [_CHANGES.get(change, change) for change in changes_in(gb.history, seen.torch)]
    return {
        "torch": seen.torch,
        "change": ", ".join(changes if seen.registered else [*changes, "not listed"]),
        "sites": [
            {
                "url": source_url(site, seen.torch),
                "label": source_label(site),
                "function": site.function,
                "short": str(site.line),
            }
            for site in seen.call_sites
        ],
        "cells": [_verdict(gb.best_run(seen.torch, device), backend) for device, backend in columns],
    }


def _verdict(evidence: Evidence | None, backend: str) -> Cell:
    verdict = evidence.verdicts.get(backend) if evidence else None
    if evidence is None or verdict is None:
        return _UNKNOWN
    cell = _VERDICTS.get(verdict, replace(_UNKNOWN, title=verdict, word=verdict))
    if verdict == "verified" and backend == "eager":
        return replace(cell, title=f"breaks; {_fixes(evidence)}")
    if verdict == "other id" and backend == "eager" and evidence.ids:
        gb_id = evidence.ids[0]
        link = "" if is_local(gb_id) else f"{gb_id.lower()}.html"  # a local id has a page only when captured
        return replace(cell, word=gb_id, link=link)
    return cell


def _fixes(evidence: Evidence) -> str:
    said = "every fix works" if all(evidence.fixes.values()) else "a fix works, but not every one"
    return f"{said}, and not with every backend" if evidence.fails_with else said
