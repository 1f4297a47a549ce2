"""How far the corpus reaches, for one torch release: from registered to verified."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from registry.model import VERIFIER, Evidence, GraphBreak, Registry, Repro


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


def count_coverage(breaks: Collection[GraphBreak], torch: str, device: str) -> Coverage:
    """Count what the evidence of one release and device says of these breaks."""
    known = [gb for gb in breaks if any(seen.torch == torch and seen.registered for seen in gb.history.releases)]
    live = [gb for gb in breaks if any(seen.torch == torch and seen.live for seen in gb.history.releases)]
    verdicts = {gb.gb_id: best_verdict(gb, torch, device) for gb in live}
    verified = sum(verdict == "verified" for verdict in verdicts.values())
    reproduced = verified + sum(verdict == "reproduced" for verdict in verdicts.values())
    others = [gb for gb in live if verdicts[gb.gb_id] not in ("verified", "reproduced")]
    reasons = [gb.unreached_in(torch) for gb in others]
    elsewhere = sum(
        reason is None and gb.status in ("verified", "reproduced") for gb, reason in zip(others, reasons, strict=True)
    )
    not_run = sum(
        bool(reason.environment) if reason else gb.status == "not-run"
        for gb, reason in zip(others, reasons, strict=True)
    )
    unreached = sum(reason is not None and not reason.environment for reason in reasons)
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
            if evidence := _made_in(one.fresh_evidence, torch, device):
                yield one.repro, evidence


def best_verdict(gb: GraphBreak, torch: str, device: str) -> str:
    """What is proven under eager, the backend that every environment has; `not run` where there is nothing."""
    found = _made_in(gb.best_evidence, torch, device)
    return found.verdicts.get("eager", "not run") if found else "not run"


def _made_in(evidence: Sequence[Evidence], torch: str, device: str) -> Evidence | None:
    for seen in evidence:
        if (seen.environment.torch, seen.environment.device) == (torch, device):
            return seen
    return None


def by_category(registry: Registry, torch: str, device: str) -> dict[str, Coverage]:
    """The same counts per category, for those that have a live id."""
    counted = {
        category.title: count_coverage(registry.in_category(category.key), torch, device)
        for category in registry.categories
    }
    return {title: coverage for title, coverage in counted.items() if coverage.live}
