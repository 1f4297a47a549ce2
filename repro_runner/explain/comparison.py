"""Two runs beside each other: what a change to a program, or another torch, did to its breaks. No torch here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from registry.model import CapturedProgram, SeenBreak
from repro_runner.explain.fingerprint import count_totals, count_types, join_seen
from repro_runner.explain.report import Report, Site

Saved: TypeAlias = Report | CapturedProgram

_FIGURES = ("sites", "graphs", "ops", "frames", "compilations", "recompiles", "compile_seconds")
_RESUMED = re.compile(r"torch_dynamo_resume_in_(.+)_at_\d+")
_SLASHES = re.compile(r"[\\/]")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Place:
    """A line at which graphs break; of a captured program, all lines with one type of break, none of them known."""

    file: str = ""
    line: int = 0
    function: str = ""
    source: str = ""
    gb_ids: tuple[str, ...]
    gb_type: str
    """Of the cause."""
    kind: str
    sites: int = 1
    compiled: int
    ran: int | None

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}" if self.file else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One place in both runs."""

    before: Place
    after: Place

    @property
    def moved(self) -> bool:
        return self.before.where != self.after.where

    @property
    def changed(self) -> bool:
        """Whether it breaks in another way now."""
        return self.before.gb_ids != self.after.gb_ids or self.kinds_differ

    @property
    def kinds_differ(self) -> bool:
        """A log does not always say what became of a break: silence is no difference."""
        return bool(self.before.kind and self.after.kind) and self.before.kind != self.after.kind

    @property
    def counts_differ(self) -> bool:
        compiled = (self.before.sites, self.before.compiled) != (self.after.sites, self.after.compiled)
        return compiled or self.ran_differ

    @property
    def ran_differ(self) -> bool:
        """Whether it ran more or less often; only where both runs know."""
        return None not in (self.before.ran, self.after.ran) and self.before.ran != self.after.ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number of the whole program in both runs; None where a run does not have it."""

    name: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something about the runs themselves that is not alike, and may be the reason for all the rest."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What became of every place, from the first run to the second."""

    differences: tuple[Difference, ...]
    gone: tuple[Place, ...]
    new: tuple[Place, ...]
    pairs: tuple[Pair, ...]
    """Places that both runs have, changed or not."""
    figures: tuple[Figure, ...]
    by_type: bool
    """Whether lines were not known, so that types were compared."""

    @property
    def altered(self) -> tuple[Pair, ...]:
        return tuple(pair for pair in self.pairs if pair.moved or pair.changed or pair.counts_differ)

    @property
    def new_sites(self) -> int:
        """Lines that break in the second run only."""
        grown = (max(0, pair.after.sites - pair.before.sites) for pair in self.pairs)
        return sum(place.sites for place in self.new) + sum(grown)

    @property
    def gone_sites(self) -> int:
        shrunk = (max(0, pair.before.sites - pair.after.sites) for pair in self.pairs)
        return sum(place.sites for place in self.gone) + sum(shrunk)


def compare_runs(before: Saved, after: Saved) -> Comparison:
    """Match the places of two runs. Where one of them is a captured program, types are all there is to compare."""
    by_type = isinstance(before, CapturedProgram) or isinstance(after, CapturedProgram)
    gone, new, pairs = _match(_places(before, by_type), _places(after, by_type))
    return Comparison(
        differences=tuple(_differences(before, after)),
        gone=gone,
        new=new,
        pairs=pairs,
        figures=tuple(_figures(before, after)),
        by_type=by_type,
    )


def _places(run: Saved, by_type: bool) -> list[Place]:
    if not by_type and isinstance(run, Report):
        found = [_place(site) for site in run.sites]
    else:
        seen = run.breaks if isinstance(run, CapturedProgram) else count_types(run)
        found = [_place_of_type(one) for one in join_seen(seen, lambda one: one.gb_id)]
    return sorted(found, key=_order)


def _place(site: Site) -> Place:
    resumed = _RESUMED.fullmatch(site.function)
    return Place(
        file=site.file,
        line=site.line,
        function=resumed[1] if resumed else site.function,
        source=site.source.strip(),
        gb_ids=site.gb_ids,
        gb_type=site.gb_types[0],
        kind=site.kind,
        compiled=site.compiled,
        ran=site.frequency.ran,
    )


def _place_of_type(one: SeenBreak) -> Place:
    return Place(
        gb_ids=(one.gb_id,),
        gb_type=one.wording.gb_type,
        kind=", ".join(one.kinds),
        sites=one.sites,
        compiled=one.compiled,
        ran=one.ran,
    )


def _order(place: Place) -> Place:
    """By file and line; the rest only so that the order is the same whichever run comes first."""
    return replace(place, ran=-1 if place.ran is None else place.ran)


Key: TypeAlias = Callable[[Place], object]

_KEYS: tuple[Key, ...] = (
    lambda place: (place.file, place.line, place.function, place.source, place.gb_ids[0]),
    lambda place: (place.file, place.function, place.source, place.gb_ids[0]),
    lambda place: (_name(place.file), place.function, place.source, place.gb_ids[0]),
    lambda place: (place.file, place.function, place.gb_ids[0]),
    lambda place: (_name(place.file), place.function, place.gb_ids[0]),
    # The same line that breaks with another id: a new torch has another name for it, or stops earlier.
    lambda place: (place.file, place.function, place.source) if place.source else place,
    lambda place: (_name(place.file), place.function, place.source) if place.source else place,
)
"""What makes two places one, strongest first; of several alike, the first goes with the first."""


def _name(file: str) -> str:
    """The file alone: the same program lies elsewhere on another machine, or in another environment."""
    return _SLASHES.split(file)[-1]


def _match(
    before: Sequence[Place], after: Sequence[Place]
) -> tuple[tuple[Place, ...], tuple[Place, ...], tuple[Pair, ...]]:
    """(gone, new, pairs)."""
    pairs: list[Pair] = []
    left, right = list(before), list(after)
    for key in _KEYS:
        others = _grouped(right, key)
        left, matched = _take(left, others, key)
        pairs += matched
        right = [place for group in others.values() for place in group]
        right.sort(key=_order)
    pairs.sort(key=lambda pair: (_order(pair.before), _order(pair.after)))
    return tuple(left), tuple(right), tuple(pairs)


def _take(places: Iterable[Place], others: dict[object, list[Place]], key: Key) -> tuple[list[Place], list[Pair]]:
    """(those that nothing fits, those that have a counterpart); counterparts are taken out of `others`."""
    unmatched, matched = [], []
    for place in places:
        fitting = others.get(key(place))
        if fitting:
            matched.append(Pair(before=place, after=fitting.pop(0)))
        else:
            unmatched.append(place)
    return unmatched, matched


def _grouped(places: Iterable[Place], key: Key) -> dict[object, list[Place]]:
    found: dict[object, list[Place]] = {}
    for place in places:
        found.setdefault(key(place), []).append(place)
    return found


def _differences(before: Saved, after: Saved) -> Iterator[Difference]:
    for (what, one), (_, other) in zip(_identity(before), _identity(after), strict=True):
        if one != other and ((one and other) or what == "error"):  # a log does not know what wrote it
            yield Difference(what=what, before=one, after=other)


def _identity(run: Saved) -> list[tuple[str, str]]:
    if isinstance(run, CapturedProgram):
        environment = run.environment
        return [
            ("program", run.name),
            ("torch", environment.torch),
            ("Python", environment.python),
            ("device", environment.device),
            ("error", ""),
        ]
    return [
        ("program", " ".join((_name(run.program.name), *run.program.arguments))),
        *((what, run.environment.get(what.lower(), "")) for what in ("torch", "Python", "device")),
        ("error", run.program.error),
    ]


def _figures(before: Saved, after: Saved) -> Iterator[Figure]:
    one, other = _numbers(before), _numbers(after)
    for name in _FIGURES:
        if name in one or name in other:
            yield Figure(name=name, before=one.get(name), after=other.get(name))


def _numbers(run: Saved) -> dict[str, float]:
    if isinstance(run, CapturedProgram):
        return dict(run.totals)
    seconds = {"compile_seconds": run.totals.compile_seconds} if run.totals.frames else {}
    return {"sites": len(run.sites), **count_totals(run), **seconds}
