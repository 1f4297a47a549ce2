"""Compare two runs: how a change to a program, or another torch, changed its breaks. Works without torch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from registry.model import CapturedProgram, SeenBreak
from repro_runner.capture.breaks import plain_name
from repro_runner.explain.fingerprint import count_totals, count_types, join_seen
from repro_runner.explain.site import Frequency, Observed, Site

Saved: TypeAlias = Observed | CapturedProgram

_FIGURES = ("sites", "graphs", "ops", "frames", "compilations", "recompiles", "compile_seconds")
_SLASHES = re.compile(r"[\\/]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One site in both runs."""

    before: Site
    after: Site

    @property
    def moved(self) -> bool:
        return self.before.where != self.after.where

    @property
    def changed(self) -> bool:
        """Whether the second run has other ids, or another kind, at this site."""
        return self.before.gb_ids != self.after.gb_ids or self.kinds_differ

    @property
    def kinds_differ(self) -> bool:
        """Whether the kinds differ. A log may not have the kind; that is not a difference."""
        return bool(self.before.kind and self.after.kind) and self.before.kind != self.after.kind

    @property
    def counts_differ(self) -> bool:
        compiled = (self.before.sites, self.before.compiled) != (self.after.sites, self.after.compiled)
        return compiled or self.ran_differ

    @property
    def ran_differ(self) -> bool:
        """Whether the break ran more or less often. False if one of the runs did not count it."""
        return None not in (self.before.ran, self.after.ran) and self.before.ran != self.after.ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number of the whole program in both runs; None where a run does not have it."""

    name: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference between the runs themselves, such as the torch version. It may explain all other differences."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What became of every site, from the first run to the second."""

    differences: tuple[Difference, ...]
    gone: tuple[Site, ...]
    new: tuple[Site, ...]
    pairs: tuple[Pair, ...]
    """Sites that both runs have, changed or not."""
    figures: tuple[Figure, ...]
    by_type: bool
    """Whether types of breaks were compared, because one of the runs has no lines."""

    @property
    def altered(self) -> tuple[Pair, ...]:
        return tuple(pair for pair in self.pairs if pair.moved or pair.changed or pair.counts_differ)

    @property
    def new_sites(self) -> int:
        """How many lines break only in the second run."""
        grown = (max(0, pair.after.sites - pair.before.sites) for pair in self.pairs)
        return sum(site.sites for site in self.new) + sum(grown)

    @property
    def gone_sites(self) -> int:
        shrunk = (max(0, pair.before.sites - pair.after.sites) for pair in self.pairs)
        return sum(site.sites for site in self.gone) + sum(shrunk)


def compare_runs(before: Saved, after: Saved) -> Comparison:
    """Match the sites of two runs. A captured program has no lines, so then types of breaks are compared."""
    by_type = isinstance(before, CapturedProgram) or isinstance(after, CapturedProgram)
    gone, new, pairs = _match(_sites(before, by_type), _sites(after, by_type))
    return Comparison(
        differences=tuple(_differences(before, after)),
        gone=gone,
        new=new,
        pairs=pairs,
        figures=tuple(_figures(before, after)),
        by_type=by_type,
    )


def _sites(run: Saved, by_type: bool) -> list[Site]:
    """The sites of a run, sorted. With `by_type`, one site stands for all lines with the same type of break."""
    if not by_type and isinstance(run, Observed):
        found = [_as_written(site) for site in run.sites]
    else:
        seen = run.breaks if isinstance(run, CapturedProgram) else count_types(run)
        found = [_site_of_type(one) for one in join_seen(seen, lambda one: one.gb_id)]
    return sorted(found, key=_order)


def _as_written(site: Site) -> Site:
    """The site with the names that the user wrote. A log may have Dynamo's name for the rest of a function."""
    return replace(site, function=plain_name(site.function), source=site.source.strip())


def _site_of_type(one: SeenBreak) -> Site:
    return Site(
        gb_ids=(one.gb_id,),
        gb_types=(one.wording.gb_type,),
        kind=", ".join(one.kinds),
        sites=one.sites,
        compiled=one.compiled,
        frequency=Frequency(ran=one.ran),
    )


def _order(site: Site) -> tuple[Any, ...]:
    """A sort key: file and line first. The other fields make the order independent of the order of the runs."""
    ran = -1 if site.ran is None else site.ran
    at = (site.file, site.line, site.function, site.source)
    return *at, site.gb_ids, site.gb_type, site.kind, site.sites, site.compiled, ran


Key: TypeAlias = Callable[[Site], object]

_KEYS: tuple[Key, ...] = (
    lambda site: (site.file, site.line, site.function, site.source, site.gb_ids[0]),
    lambda site: (site.file, site.function, site.source, site.gb_ids[0]),
    lambda site: (_file_name(site.file), site.function, site.source, site.gb_ids[0]),
    lambda site: (site.file, site.function, site.gb_ids[0]),
    lambda site: (_file_name(site.file), site.function, site.gb_ids[0]),
    # The same line with another id: a new torch names the break differently, or breaks at an earlier step.
    lambda site: (site.file, site.function, site.source) if site.source else site,
    lambda site: (_file_name(site.file), site.function, site.source) if site.source else site,
)
"""Two sites with the same key are the same site. The strictest key comes first. Equal keys are paired in order."""


def _file_name(file: str) -> str:
    """The name without its folder, because another machine or environment has the program in another folder."""
    return _SLASHES.split(file)[-1]


def _match(
    before: Sequence[Site], after: Sequence[Site]
) -> tuple[tuple[Site, ...], tuple[Site, ...], tuple[Pair, ...]]:
    """Pair the sites of both runs, and return (gone, new, pairs)."""
    pairs: list[Pair] = []
    left, right = list(before), list(after)
    for key in _KEYS:
        others = _grouped(right, key)
        left, matched = _pair_by_key(left, others, key)
        pairs += matched
        right = [site for group in others.values() for site in group]
        right.sort(key=_order)
    pairs.sort(key=lambda pair: (_order(pair.before), _order(pair.after)))
    return tuple(left), tuple(right), tuple(pairs)


def _pair_by_key(sites: Iterable[Site], others: dict[object, list[Site]], key: Key) -> tuple[list[Site], list[Pair]]:
    """Return (sites without a partner, pairs). Partners are removed from `others`."""
    unmatched, matched = [], []
    for site in sites:
        fitting = others.get(key(site))
        if fitting:
            matched.append(Pair(before=site, after=fitting.pop(0)))
        else:
            unmatched.append(site)
    return unmatched, matched


def _grouped(sites: Iterable[Site], key: Key) -> dict[object, list[Site]]:
    found: dict[object, list[Site]] = {}
    for site in sites:
        found.setdefault(key(site), []).append(site)
    return found


def _differences(before: Saved, after: Saved) -> Iterator[Difference]:
    for (what, one), (_, other) in zip(_identity(before), _identity(after), strict=True):
        if one != other and ((one and other) or what == "error"):  # a log may not have these values
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
        ("program", " ".join((_file_name(run.program.name), *run.program.arguments))),
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
