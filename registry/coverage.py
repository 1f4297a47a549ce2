"""How far the corpus reaches, for one torch release: from registered to verified."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from registry.model import Evidence, GraphBreak, Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Counts for one release; reproduced includes verified, and reproduced + unreached + unexplained = live."""

    torch: str
    registered: int
    live: int
    reproduced: int
    verified: int
    unreached: int
    unexplained: int


def count_coverage(breaks: Collection[GraphBreak], torch: str, device: str) -> Coverage:
    """Count what the evidence of one release and device says of these breaks."""
    known = [gb for gb in breaks if any(seen.torch == torch and seen.registered for seen in gb.history.releases)]
    live = [gb for gb in breaks if any(seen.torch == torch and seen.live for seen in gb.history.releases)]
    verdicts = {gb.gb_id: best_verdict(gb, torch, device) for gb in live}
    verified = sum(verdict == "verified" for verdict in verdicts.values())
    reproduced = verified + sum(verdict == "reproduced" for verdict in verdicts.values())
    exempt = sum(gb.unreached is not None and verdicts[gb.gb_id] not in ("verified", "reproduced") for gb in live)
    return Coverage(
        torch=torch,
        registered=len(known),
        live=len(live),
        reproduced=reproduced,
        verified=verified,
        unreached=exempt,
        unexplained=len(live) - reproduced - exempt,
    )


def count_fixes(breaks: Collection[GraphBreak], torch: str, device: str) -> dict[str, int]:
    """How many fixes hold, by kind."""
    counts = dict.fromkeys(("rewrite", "flag", "custom op"), 0)
    for gb in breaks:
        evidence = _fresh_evidence(gb, torch, device)
        for name, holds in evidence.fixes.items() if evidence else ():
            if holds and gb.repro is not None:
                counts[gb.repro.fixes[name]] += 1
    return counts


def best_verdict(gb: GraphBreak, torch: str, device: str) -> str:
    """The verdict under eager, the backend that every environment has; `not run` where there is none."""
    evidence = _fresh_evidence(gb, torch, device)
    return evidence.verdicts.get("eager", "not run") if evidence else "not run"


def _fresh_evidence(gb: GraphBreak, torch: str, device: str) -> Evidence | None:
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
