"""How far the corpus reaches, for one torch release: from registered to verified."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from registry.model import GraphBreak, Registry


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


def count_coverage(
    breaks: Collection[GraphBreak], torch: str, device: str, unreached: Mapping[str, object]
) -> Coverage:
    """Count what the evidence of one release and device says of these breaks."""
    known = [gb for gb in breaks if any(seen.torch == torch and seen.registered for seen in gb.history.releases)]
    live = [gb for gb in breaks if any(seen.torch == torch and seen.live for seen in gb.history.releases)]
    verdicts = {gb.gb_id: best_verdict(gb, torch, device) for gb in live}
    verified = sum(verdict == "verified" for verdict in verdicts.values())
    reproduced = verified + sum(verdict == "reproduced" for verdict in verdicts.values())
    exempt = sum(
        gb_id in unreached and verdict not in ("verified", "reproduced") for gb_id, verdict in verdicts.items()
    )
    return Coverage(
        torch=torch,
        registered=len(known),
        live=len(live),
        reproduced=reproduced,
        verified=verified,
        unreached=exempt,
        unexplained=len(live) - reproduced - exempt,
    )


def best_verdict(gb: GraphBreak, torch: str, device: str) -> str:
    """The verdict under eager, the backend that every environment has; `not run` where there is none."""
    for evidence in gb.evidence:
        environment = evidence.environment
        fresh = gb.repro is not None and evidence.repro_sha256 == gb.repro.sha256
        if (environment.torch, environment.device) == (torch, device) and fresh:
            return evidence.verdicts.get("eager", "not run")
    return "not run"


def by_category(registry: Registry, torch: str, device: str, unreached: Mapping[str, object]) -> dict[str, Coverage]:
    """The same counts per category, for those that have a live id."""
    counted = {
        category.title: count_coverage(registry.in_category(category.key), torch, device, unreached)
        for category in registry.categories
    }
    return {title: coverage for title, coverage in counted.items() if coverage.live}
