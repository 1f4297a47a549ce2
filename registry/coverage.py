"""How far the corpus reaches, for one torch release: from registered to verified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from registry.model import COUNTS_SINCE, Evidence, GraphBreak, Registry, Repro


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Counts for one release; reproduced includes verified.

    live = reproduced + elsewhere + not_run + unreached + unexplained.
    """

    torch: str
    registered: int
    live: int
    reproduced: int
    verified: int
    elsewhere: int
    """Reproduced, but in another environment than this."""
    not_run: int
    """Needs an environment in which no program was run yet; its program, or `unreached.yml`, names it."""
    unreached: int
    """No program can cause it, on any Python or build of torch."""
    unexplained: int


def count_coverage(breaks: Collection[GraphBreak], torch: str, device: str = "") -> Coverage:
    """Count the statuses of what one release emits; on one device, or on any."""
    live = [gb for gb in breaks if gb.history.of(torch).live]
    count = Counter(gb.status_in(torch, device) for gb in live)
    return Coverage(
        torch=torch,
        registered=sum(gb.history.of(torch).registered for gb in breaks),
        live=len(live),
        reproduced=count["verified"] + count["reproduced"],
        verified=count["verified"],
        elsewhere=count["elsewhere"],
        not_run=count["not-run"],
        unreached=count["unreached"],
        unexplained=count["open"],
    )


def count_fixes(breaks: Collection[GraphBreak], torch: str, device: str = "") -> dict[str, int]:
    """How many fixes hold, by kind."""
    counts = dict.fromkeys(("rewrite", "flag", "custom op"), 0)
    for repro, evidence in _runs(breaks, torch, device):
        for name, holds in evidence.fixes.items():
            if holds and evidence.verifier >= COUNTS_SINCE:
                counts[repro.fixes[name]] += 1
    return counts


def count_gradients(breaks: Collection[GraphBreak], torch: str, device: str = "") -> dict[str, list[str]]:
    """How the gradients of fixes compare with eager's -> the fixes (`GB0170.fixed`), `equal` first."""
    found: dict[str, list[str]] = {"equal": [], "excused": []}
    for repro, evidence in _runs(breaks, torch, device):
        for name, said in evidence.gradients.items():
            if said:
                found.setdefault(said, []).append(f"{repro.name}.{name}")
    return found


def count_failing(breaks: Collection[GraphBreak], torch: str, device: str = "") -> dict[str, list[str]]:
    """Backend, and `in training` if only that fails -> the fixes that hold under eager and not there."""
    found: dict[str, list[str]] = {}
    for repro, evidence in _runs(breaks, torch, device):
        for name, backends in evidence.fails_with.items():
            for backend, when in backends.items():
                key = f"{backend} in training" if when == "in training" else backend
                found.setdefault(key, []).append(f"{repro.name}.{name}")
    return dict(sorted(found.items()))


def _runs(breaks: Collection[GraphBreak], torch: str, device: str) -> Iterator[tuple[Repro, Evidence]]:
    """Every program of these breaks, with what shows most of it, as it is now, in one release."""
    for gb in breaks:
        for one in gb.programs:
            if evidence := one.best_run(torch, device):
                yield one.repro, evidence


def by_category(registry: Registry, torch: str, device: str = "") -> dict[str, Coverage]:
    """The same counts per category, for those that have a live id."""
    counted = {
        category.title: count_coverage(registry.in_category(category.key), torch, device)
        for category in registry.categories
    }
    return {title: coverage for title, coverage in counted.items() if coverage.live}
