"""How far the corpus reaches, for one torch release: from registered to verified."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from registry.model import VERIFIER, Evidence, Example, GraphBreak, Registry, Repro


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
    """Needs an environment in which no program was run yet; `unreached.yml` names it."""
    unreached: int
    """No program can cause it, on any Python or build of torch."""
    unexplained: int


def count_coverage(breaks: Collection[GraphBreak], torch: str, device: str) -> Coverage:
    """Count what the evidence of one release and device says of these breaks."""
    known = [gb for gb in breaks if any(seen.torch == torch and seen.registered for seen in gb.history.releases)]
    live = [gb for gb in breaks if any(seen.torch == torch and seen.live for seen in gb.history.releases)]
    verdicts = {gb.gb_id: best_verdict(gb, torch, device) for gb in live}
    verified = sum(verdict == "verified" for verdict in verdicts.values())
    reproduced = verified + sum(verdict == "reproduced" for verdict in verdicts.values())
    others = [gb.status for gb in live if verdicts[gb.gb_id] not in ("verified", "reproduced")]
    elsewhere = sum(status in ("verified", "reproduced") for status in others)
    not_run, unreached = others.count("not-run"), others.count("unreached")
    return Coverage(
        torch=torch,
        registered=len(known),
        live=len(live),
        reproduced=reproduced,
        verified=verified,
        elsewhere=elsewhere,
        not_run=not_run,
        unreached=unreached,
        unexplained=len(live) - reproduced - elsewhere - not_run - unreached,
    )


def count_fixes(breaks: Collection[GraphBreak], torch: str, device: str) -> dict[str, int]:
    """How many fixes hold, by kind."""
    counts = dict.fromkeys(("rewrite", "flag", "custom op"), 0)
    for repro, evidence in _runs(breaks, torch, device):
        for name, holds in evidence.fixes.items():
            if holds and evidence.verifier == VERIFIER:
                counts[repro.fixes[name]] += 1
    return counts


def count_gradients(breaks: Collection[GraphBreak], torch: str, device: str) -> dict[str, list[str]]:
    """How the gradients of fixes compare with eager's -> the fixes (`GB0170.fixed`), `equal` first."""
    found: dict[str, list[str]] = {"equal": [], "excused": []}
    for repro, evidence in _runs(breaks, torch, device):
        for name, said in evidence.gradients.items():
            if said:
                found.setdefault(said, []).append(f"{repro.name}.{name}")
    return found


def count_failing(breaks: Collection[GraphBreak], torch: str, device: str) -> dict[str, list[str]]:
    """Backend, and `in training` if only that fails -> the fixes that hold under eager and not there."""
    found: dict[str, list[str]] = {}
    for repro, evidence in _runs(breaks, torch, device):
        for name, backends in evidence.fails_with.items():
            for backend, when in backends.items():
                key = f"{backend} in training" if when == "in training" else backend
                found.setdefault(key, []).append(f"{repro.name}.{name}")
    return dict(sorted(found.items()))


def _runs(breaks: Collection[GraphBreak], torch: str, device: str) -> Iterator[tuple[Repro, Evidence]]:
    """Every program of these breaks, with what was seen of it, as it is now, in one environment."""
    for gb in breaks:
        for one in gb.programs:
            if evidence := _fresh_evidence(one, torch, device):
                yield one.repro, evidence


def best_verdict(gb: GraphBreak, torch: str, device: str) -> str:
    """What is proven under eager, the backend that every environment has; `not run` where there is nothing."""
    evidence = _fresh_evidence(gb, torch, device)
    return evidence.verdicts.get("eager", "not run") if evidence else "not run"


def _fresh_evidence(gb: GraphBreak | Example, torch: str, device: str) -> Evidence | None:
    """Made in this environment, from the repro as it is now."""
    for evidence in gb.fresh_evidence:
        if (evidence.environment.torch, evidence.environment.device) == (torch, device):
            return evidence
    return None


def by_category(registry: Registry, torch: str, device: str) -> dict[str, Coverage]:
    """The same counts per category, for those that have a live id."""
    counted = {
        category.title: count_coverage(registry.in_category(category.key), torch, device)
        for category in registry.categories
    }
    return {title: coverage for title, coverage in counted.items() if coverage.live}
