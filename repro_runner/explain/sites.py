"""From what was raised, compiled and counted to sites, recompiles and totals.

A site is a file, a line and a cause: two different breaks of one line are two sites, since they have two remedies. What
the cause surfaced as, in whatever frame, belongs to its site.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from types import CodeType

from repro_runner.capture.breaks import KINDS, UserFrame, plain_name
from repro_runner.capture.recorder import Raised, Recorder, TakenFrame
from repro_runner.explain.compilations import Compilation
from repro_runner.explain.frequency import find_frequency
from repro_runner.explain.places import innermost, is_break, stack_of
from repro_runner.explain.report import Totals
from repro_runner.explain.site import Recompile, Site

_LIMIT = "limit exceeded"
"""In the type of the break that ends a function's compilations, in all releases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """All that was watched."""

    recorder: Recorder
    compilations: Sequence[Compilation]
    rests: Mapping[TakenFrame, AbstractSet[CodeType]]
    ran: Mapping[TakenFrame, int]
    """How often the code of a frame got to its break; without those that could not be counted."""

    def of(self, causes: Iterable[Raised]) -> list[Compilation]:
        """The compilations in which these breaks happened."""
        frames = {one.frame for one in causes if one.frame is not None}
        return [one for one in self.compilations if one.frame in frames]

    def after(self, causes: Iterable[Raised]) -> list[Compilation]:
        """Those of the rests of functions after these breaks."""
        rests = {rest for one in causes if one.frame is not None for rest in self.rests.get(one.frame, ())}
        return [one for one in self.compilations if one.frame is not None and one.frame.code in rests]

    def past_limit(self) -> set[CodeType]:
        """Functions that were compiled too often to be compiled again."""
        return {
            one.frame.code
            for one in self.recorder.raised
            if _LIMIT in one.parts.gb_type and one.frame is not None and one.frame.code is not None
        }


def find_sites(seen: Seen) -> tuple[Site, ...]:
    """The dearest first: by the compilation time that it cost, then by how often it ran."""
    raised = [one for one in seen.recorder.followed() if is_break(one)]
    surfaced = {id(one.surfaced_as) for one in raised}
    places: dict[tuple[str, int, str], list[Raised]] = {}
    for one in raised:
        if id(one) not in surfaced:
            at = stack_of(one)[-1]
            places.setdefault((at.file, at.line, seen.recorder.id_of(one)), []).append(one)
    past_limit = seen.past_limit()
    sites = [_site(causes, seen, past_limit) for causes in places.values()]
    return tuple(sorted(sites, key=lambda one: (-one.lost_seconds, -(one.frequency.ran or 0), one.file, one.line)))


def _site(causes: list[Raised], seen: Seen, past_limit: set[CodeType]) -> Site:
    first, inner = causes[0], innermost(causes)
    stack = tuple(_plain(frame) for frame in stack_of(first))
    chain = {seen.recorder.id_of(one): one.parts.gb_type for cause in causes for one in _chain(cause)}
    here, after = seen.of(causes), seen.after(causes)
    again = {id(one): one for one in (*here, *after)}
    return Site(
        file=stack[-1].file,
        line=stack[-1].line,
        function=stack[-1].function,
        source=stack[-1].source,
        columns=tuple(sorted({cause.columns for cause in causes if cause.columns is not None})),
        gb_ids=tuple(chain),
        gb_types=tuple(chain.values()),
        kind=min((cause.kind for cause in causes), key=KINDS.index),
        message=first.message,
        context=first.parts.context,
        explanation=first.parts.explanation,
        hints=first.parts.hints,
        stack=stack,
        compiled=len({id(cause.frame) for cause in causes}),
        frequency=find_frequency(causes, seen.ran, past_limit),
        ops_before=_ops(seen.of(inner)),
        ops_after=_ops(seen.after(inner)),
        recompiles=find_recompiles(again.values()),
        lost_seconds=_lost_seconds(causes, inner, seen),
        compile_ids=tuple(dict.fromkeys(cause.compile_id for cause in causes if cause.compile_id)),
    )


def _plain(frame: UserFrame) -> UserFrame:
    return replace(frame, function=plain_name(frame.function))


def _chain(cause: Raised) -> list[Raised]:
    chain = [cause]
    while chain[-1].surfaced_as is not None:
        chain.append(chain[-1].surfaced_as)
    return chain


def _ops(compilations: Sequence[Compilation]) -> int | None:
    """Of the newest that came to something."""
    return next((one.ops for one in reversed(compilations) if one.installed), None)


def _lost_seconds(causes: Sequence[Raised], inner: Sequence[Raised], seen: Seen) -> float:
    """Attempts thrown away at this break, and whole compilations that there would not be without it.

    Those are of the rests of functions after it, and of the function that holds the line where it was to be inlined.
    An attempt thrown away in one of them is the loss of whatever broke there.
    """
    here = seen.of(causes)
    extra = {id(one) for one in seen.after(causes)}
    if len(inner) < len(causes):
        extra |= {id(one) for one in seen.of(inner) if not one.is_rest}
    lost = sum(one.thrown_away if one.installed else one.seconds for one in here)
    return lost + sum(one.seconds - one.thrown_away for one in seen.compilations if id(one) in extra and one.installed)


def find_recompiles(compilations: Iterable[Compilation]) -> tuple[Recompile, ...]:
    """Those that had to be because a guard failed."""
    return tuple(
        Recompile(
            function=plain_name(one.name),
            file=one.file,
            line=one.line,
            guard=one.guard,
            compile_id=one.compile_id,
            seconds=one.seconds,
        )
        for one in compilations
        if one.guard
    )


def find_totals(compilations: Sequence[Compilation]) -> Totals:
    """Graphs and ops of all compilations that came to something: as many graphs as were given to a backend.

    A function and each rest of it is one frame, however often it was compiled; a compilation that was given up counts.
    """
    with_graph = [one for one in compilations if one.has_graph]
    return Totals(
        graphs=len(with_graph),
        ops=sum(one.ops or 0 for one in with_graph),
        frames=len({one.frame.code for one in compilations if one.installed and one.frame is not None}),
        compilations=len(compilations),
        compile_seconds=sum(one.seconds for one in compilations),
    )
