"""The same break at the same place is one break, however often and by however many ranks it is reported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from repro_runner.capture.breaks import KINDS, RESUME_PREFIX
from repro_runner.explain.site import Site

COMPILE_IDS_KEPT = 50


class Gathering:
    """Takes reports, gives breaks: in the order in which they were first reported."""

    def __init__(self, breaks: Iterable[Site] = ()) -> None:
        self._breaks: dict[tuple[object, ...], Site] = {}
        for one in breaks:
            self.add(one)

    def add(self, one: Site) -> None:
        """Count it to its like, or begin a new one."""
        key = _identity(one)
        before = self._breaks.get(key)
        self._breaks[key] = one if before is None else _join(before, one)

    @property
    def breaks(self) -> tuple[Site, ...]:
        return tuple(self._breaks.values())


def _identity(one: Site) -> tuple[object, ...]:
    """Place and cause. An unknown break is its type; one that has not even that is its text."""
    cause = one.gb_ids[:1] or one.gb_types[:1] or (one.message,)
    return one.file, one.line, *cause


def _join(one: Site, other: Site) -> Site:
    types = dict(zip(other.gb_ids, other.gb_types, strict=False)) | dict(zip(one.gb_ids, one.gb_types, strict=False))
    gb_ids = tuple(dict.fromkeys([*one.gb_ids, *other.gb_ids]))
    named = one if one.function and not one.function.startswith(RESUME_PREFIX) else other if other.function else one
    ranks = dict(one.ranks)
    for rank, count in other.ranks.items():
        ranks[rank] = ranks.get(rank, 0) + count
    compile_ids = one.compile_ids
    if len(compile_ids) < COMPILE_IDS_KEPT:
        compile_ids = tuple(dict.fromkeys([*compile_ids, *other.compile_ids]))[:COMPILE_IDS_KEPT]
    return replace(
        one,
        gb_ids=gb_ids,
        gb_types=tuple(types.get(gb_id, "") for gb_id in gb_ids) if gb_ids else one.gb_types,
        kind=min(one.kind, other.kind, key=KINDS.index),
        function=named.function,
        source=one.source or other.source,
        compiled=one.compiled + other.compiled,
        ranks=dict(sorted(ranks.items(), key=lambda pair: rank_order(pair[0]))),
        compile_ids=compile_ids,
    )


def rank_order(rank: str) -> tuple[int, str]:
    """Ranks by their number."""
    return (int(rank), "") if rank.isdecimal() else (0, rank)
