"""What differs between any two torch releases, id by id. docs/assets/js/release-changes.js does the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from registry.evidence_changes import RUN_GROUPS, turned
from registry.model import Example, GraphBreak, Registry, Revision

GROUPS = {
    "added": "Added",
    "dropped": "Dropped from the registry",
    "reworded": "Reworded",
    "meaning": "Changed meaning",
    "retired": "No longer emitted",
    "emitted": "Emitted now, not before",
}
"""What can happen to an id between two releases -> its name on the page."""

Changes = Mapping[str, tuple[GraphBreak, ...]]
"""Name of a group -> the ids in it, sorted; a group without one is left out."""

RunChanges = Mapping[str, tuple[tuple[GraphBreak, Example], ...]]
"""The same of programs."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two releases to compare: what was, and what is."""

    before: str
    after: str


def compare_releases(registry: Registry, pair: Pair) -> Changes:
    """Group the ids by what happened to them; an id can be in two groups."""
    between = _between(registry.releases, pair)
    found = [(group, gb) for gb in registry for group in _happened(gb, pair, between)]
    groups = {name: tuple(gb for group, gb in found if group == name) for name in GROUPS}
    return {name: breaks for name, breaks in groups.items() if breaks}


def compare_runs(registry: Registry, pair: Pair, device: str) -> RunChanges:
    """Group the programs by what they did under eager on one device, in both releases."""
    found: dict[str, list[tuple[GraphBreak, Example]]] = {name: [] for name in RUN_GROUPS}
    for gb in registry:
        for one in gb.programs:
            was, now = (_ran(one, torch, device) for torch in (pair.before, pair.after))
            if group := turned(was[0], now[0], was[1], now[1]):
                found[group].append((gb, one))
    return {name: tuple(programs) for name, programs in found.items() if programs}


def _ran(program: Example, torch: str, device: str) -> tuple[str, frozenset[str]]:
    """Its verdict, and the fixes that work."""
    return program.verdict_in(torch, device), working_fixes(program, torch, device)


def working_fixes(program: Example, torch: str, device: str) -> frozenset[str]:
    """The fixes of a program that work in a release."""
    ran = program.best_run(torch, device)
    return frozenset(name for name, holds in ran.fixes.items() if holds) if ran else frozenset()


def devices_of(registry: Registry, torch: str) -> set[str]:
    """The devices on which the programs were run with this release."""
    return {one.device for one in registry.environments if one.torch == torch}


def wording_in(gb: GraphBreak, torch: str) -> Revision | None:
    """The newest wording that a release registers for an id; None where it does not know the id."""
    return next((dated.revision for dated in gb.revisions if torch in dated.releases), None)


def _happened(gb: GraphBreak, pair: Pair, between: Iterable[str]) -> list[str]:
    old, new = wording_in(gb, pair.before), wording_in(gb, pair.after)
    live = {seen.torch: seen.live for seen in gb.history.releases}
    was, now = live.get(pair.before, False), live.get(pair.after, False)
    groups = []
    if old is None and new is not None:
        groups.append("added")
    if old is not None and new is None:
        groups.append("dropped")
    if old is not None and new is not None and old != new:
        groups.append("meaning" if set(between) & set(gb.history.meaning_changed_in) else "reworded")
    if was and not now:
        groups.append("retired")
    if now and not was and old is not None:
        groups.append("emitted")
    return groups


def _between(releases: tuple[str, ...], pair: Pair) -> tuple[str, ...]:
    """The releases after the older of the two, up to the newer; a comparison may also go backwards."""
    first, last = sorted((releases.index(pair.before), releases.index(pair.after)))
    return releases[first + 1 : last + 1]
