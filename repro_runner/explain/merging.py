"""Combine what several reports, logs or processes tell about the same breaks. This module does not need torch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from repro_runner.capture.breaks import KINDS, RESUME_PREFIX
from repro_runner.explain.site import Frequency, Site

_COMPILE_IDS_KEPT = 50
_REPORTS_AT_ONCE = 64
"""Reports of a break that are combined together."""


class Gathering:
    """Collects reports of breaks, in the order of the first reports.

    All reports of the same break at the same place, by any rank, become one break with a count.
    """

    def __init__(self, breaks: Iterable[Site] = ()) -> None:
        self._reports: dict[tuple[object, ...], list[Site]] = {}
        for one in breaks:
            self.add(one)

    def add(self, one: Site) -> None:
        """Add a report to the same break at the same place, or start a new break."""
        reports = self._reports.setdefault(_identity(one), [])
        reports.append(one)
        if len(reports) == _REPORTS_AT_ONCE:
            reports[:] = [_combine(reports)]

    @property
    def breaks(self) -> tuple[Site, ...]:
        return tuple(_combine(reports) for reports in self._reports.values())


def _identity(one: Site) -> tuple[object, ...]:
    """The place and the cause of a break. The cause is its id; without one its type, and without that its message."""
    cause = one.gb_ids[:1] or one.gb_types[:1] or (one.message,)
    return one.file, one.line, *cause


def _combine(reports: Sequence[Site]) -> Site:
    first = reports[0]
    if len(reports) == 1:
        return first
    function, types, compile_ids = first.function, dict[str, str](), dict[str, None]()
    ranks, kinds = Counter[str](), Counter[str]()
    for one in reports:
        if not function or (one.function and function.startswith(RESUME_PREFIX)):
            function = one.function
        ranks.update(one.ranks)
        kinds.update(one.kinds)
        types.update({gb_id: name for gb_id, name in zip(one.gb_ids, one.gb_types, strict=False) if gb_id not in types})
        if len(compile_ids) < _COMPILE_IDS_KEPT:
            compile_ids.update(dict.fromkeys(one.compile_ids))
    uncounted = next((one.frequency for one in reports if one.ran is None), None)
    return replace(
        first,
        gb_ids=tuple(types),
        gb_types=tuple(types.values()) or first.gb_types,
        kind=min((one.kind for one in reports), key=KINDS.index),
        kinds=dict(kinds),
        function=function,
        source=next((one.source for one in reports if one.source), ""),
        compiled=sum(one.compiled for one in reports),
        frequency=uncounted or Frequency(ran=sum(one.ran or 0 for one in reports)),
        recompiles=tuple(again for one in reports for again in one.recompiles),
        lost_seconds=sum(one.lost_seconds for one in reports),
        ranks=dict(sorted(ranks.items(), key=lambda pair: rank_order(pair[0]))),
        compile_ids=tuple(compile_ids)[:_COMPILE_IDS_KEPT],
    )


def rank_order(rank: str) -> tuple[int, str]:
    """A sort key that orders ranks by their number."""
    return (int(rank), "") if rank.isdecimal() else (0, rank)


def find_differences(
    breaks: Iterable[Site], graphs: Mapping[str, int], place: Callable[[Site], str] = lambda site: site.where
) -> Iterator[str]:
    """Yield one line per difference between ranks; nothing if there is one rank, or if all ranks are the same."""
    breaks = list(breaks)
    ranks = sorted({*graphs, *(rank for one in breaks for rank in one.ranks)}, key=rank_order)
    if len(ranks) < 2:
        return
    if len(set(graphs.values())) > 1:
        yield f"graphs: {_counts_by_rank(graphs, ranks)}"
    for one in breaks:
        if one.ranks and len({one.ranks.get(rank, 0) for rank in ranks}) > 1:
            name = " → ".join(one.gb_ids) or "an unknown break"
            yield f"{name}{f' at {place(one)}' if one.where else ''}: {_counts_by_rank(one.ranks, ranks)}"


def _counts_by_rank(counts: Mapping[str, int], ranks: Sequence[str]) -> str:
    return ", ".join(f"{counts.get(rank, 0)}× on rank {rank}" for rank in ranks)
