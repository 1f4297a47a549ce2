"""Compute sites, recompiles and totals from the breaks, compilations and counts that were recorded.

A site is a file, a line and a cause. Two different breaks at one line are two sites, because they need two fixes. The
break that a cause was reported as belongs to the cause's site, in any frame.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from types import CodeType

from repro_runner.capture.breaks import KINDS, RESUMED, SWALLOWED, UserFrame, plain_name
from repro_runner.capture.recorder import Raised, Recorder, TakenFrame, stack_of
from repro_runner.explain.site import EXPORT_STOPPED, LIMIT, ONE_GRAPH, Frequency, Recompile, Site, Totals

FAILED = "torch.compile stopped here with an error"
GIVEN_UP = "Dynamo gave up the whole function: it runs as plain Python, where nothing is counted"
PAST_LIMIT = "the function reached the recompile limit and now runs as plain Python, where nothing is counted"
NO_FRAME = "it happened outside of a compiled call, as in an export"
NO_COUNTER = "the code that Dynamo made has no place for a counter"


def _is_break(raised: Raised) -> bool:
    """Whether torch reports it, or a graph broke, or Dynamo skipped a function that the user asked to compile."""
    if raised.kind == SWALLOWED or not stack_of(raised):
        return False
    return raised.reported or raised.frame is None or raised.frame.asked_for


def _innermost(causes: Iterable[Raised]) -> list[Raised]:
    """The breaks without those that were reported again by an inner function.

    A break in `g`, inlined into `f`, is reported when `f` is compiled. Then `f` calls `g`, which is compiled alone and
    breaks again. That is the same event, and only the report from `g` is counted.
    """
    paths = {id(one): tuple((frame.file, frame.line) for frame in stack_of(one)) for one in causes}
    known = set(paths.values())
    return [
        one for one in causes if not any(paths[id(one)][start:] in known for start in range(1, len(paths[id(one)])))
    ]


def _find_frequency(
    causes: Sequence[Raised], ran: Mapping[TakenFrame, int], past_limit: AbstractSet[CodeType]
) -> Frequency:
    """How often the breaks of one line ran: the sum over its compilations; unknown if one of them was not counted."""
    counted = _innermost(causes)
    unknown = next((why for one in counted if (why := _why_unknown(one, ran, past_limit))), "")
    if unknown:
        return Frequency(ran=None, why_unknown=unknown)
    return Frequency(ran=sum(ran[frame] for frame in {one.frame for one in counted} if frame is not None))


def _why_unknown(one: Raised, ran: Mapping[TakenFrame, int], past_limit: AbstractSet[CodeType]) -> str:
    if one.kind == "fatal":
        exported, one_graph = (one.frame.exported, one.frame.one_graph) if one.frame else (False, False)
        return EXPORT_STOPPED if exported else ONE_GRAPH if one_graph else FAILED
    if one.frame is None:
        return NO_FRAME
    if one.frame.code in past_limit:
        return PAST_LIMIT
    if one.kind == "frame skipped":
        return GIVEN_UP
    return "" if one.frame in ran else NO_COUNTER


@dataclass(slots=True, kw_only=True)
class Compilation:
    """One compilation of a function, or of the rest of one after a break."""

    frame: TakenFrame | None
    compile_id: str
    name: str
    """Dynamo's name: the rest of `f` after line 7 is called `torch_dynamo_resume_in_f_at_7`."""
    file: str
    line: int
    ops: int | None
    """Number of ops in its graph; None if the compilation failed."""
    installed: bool
    """Whether the compilation produced code."""
    seconds: float
    thrown_away: float
    """The part of `seconds` for attempts before the last one; all of it if Dynamo gave up on the frame."""
    guard: str
    """The guard that failed and caused this recompile; empty for a first compilation."""
    hint: str = ""
    """What torch says about this guard."""

    @property
    def is_rest(self) -> bool:
        return RESUMED.fullmatch(self.name) is not None

    @property
    def has_graph(self) -> bool:
        return self.installed and bool(self.ops)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Everything that was recorded while a program compiled and ran."""

    recorder: Recorder
    compilations: Sequence[Compilation]
    rests: Mapping[TakenFrame, AbstractSet[CodeType]]
    ran: Mapping[TakenFrame, int]
    """How often the code of a frame reached its break. Frames without a counter are missing."""

    def compilations_with(self, causes: Iterable[Raised]) -> list[Compilation]:
        """The compilations in which these breaks happened."""
        frames = {one.frame for one in causes if one.frame is not None}
        return [one for one in self.compilations if one.frame in frames]

    def compilations_after(self, causes: Iterable[Raised]) -> list[Compilation]:
        """The compilations of the rests of functions after these breaks."""
        rests = {rest for one in causes if one.frame is not None for rest in self.rests.get(one.frame, ())}
        return [one for one in self.compilations if one.frame is not None and one.frame.code in rests]

    def compilations_before_limit(self, causes: Iterable[Raised]) -> list[Compilation]:
        """The earlier compilations of functions that reached the recompile limit in these breaks."""
        codes = [one.frame.code for one in causes if LIMIT in one.parts.gb_type and one.frame is not None]
        return [one for one in self.compilations if one.frame is not None and one.frame.code in codes]

    def past_limit(self) -> set[CodeType]:
        """The functions that reached the recompile limit."""
        return {
            one.frame.code
            for one in self.recorder.raised
            if LIMIT in one.parts.gb_type and one.frame is not None and one.frame.code is not None
        }


def find_sites(watched: Watched) -> tuple[Site, ...]:
    """All sites, the most frequent first."""
    raised = [one for one in watched.recorder.followed() if _is_break(one)]
    surfaced = {id(one.surfaced_as) for one in raised}
    places: dict[tuple[str, int, str], list[Raised]] = {}
    for one in raised:
        if id(one) not in surfaced:
            at = stack_of(one)[-1]
            places.setdefault((at.file, at.line, watched.recorder.id_of(one)), []).append(one)
    past_limit = watched.past_limit()
    return tuple(in_order([_site(causes, watched, past_limit) for causes in places.values()]))


def in_order(sites: Iterable[Site]) -> Iterator[Site]:
    """The most frequent first; those that follow from a function that was given up stand below the site of that.

    Nothing that is measured decides: the same program gives the same order each time.
    """
    sites = sorted(sites, key=lambda one: (-one.count, one.file, one.line, one.gb_ids))
    known = {site.where for site in sites}
    following: dict[str, list[Site]] = {}
    for site in sites:
        following.setdefault(site.follows if site.follows in known - {site.where} else "", []).append(site)
    waiting = following.pop("", [])[::-1]
    while waiting or following:
        if not waiting:  # they follow from each other
            waiting = following.pop(next(iter(following)))[::-1]
        site = waiting.pop()
        yield site
        waiting += following.pop(site.where, [])[::-1]


def find_unlisted(watched: Watched, reports: Mapping[tuple[str, int], int]) -> dict[str, int]:
    """`file:line` -> how many reports in torch's log have no record at that line. Nothing may be in it."""
    recorded: Counter[tuple[str, int]] = Counter()
    for one in watched.recorder.followed():
        if one.kind != SWALLOWED and (stack := stack_of(one)):
            recorded[stack[-1].file, stack[-1].line] += 1
    missing = Counter(reports) - recorded
    return {f"{file}:{line}": count for (file, line), count in sorted(missing.items())}


def _site(causes: list[Raised], watched: Watched, past_limit: set[CodeType]) -> Site:
    first, inner = causes[0], _innermost(causes)
    stack = tuple(_plain(frame) for frame in stack_of(first))
    chain = {watched.recorder.id_of(one): one.parts.gb_type for cause in causes for one in _chain(cause)}
    affected = (*watched.compilations_before_limit(causes), *watched.compilations_with(causes))
    affected += tuple(watched.compilations_after(causes))
    return Site(
        file=stack[-1].file,
        line=stack[-1].line,
        function=stack[-1].function,
        source=stack[-1].source,
        columns=tuple(sorted({cause.columns for cause in causes if cause.columns is not None})),
        gb_ids=tuple(chain),
        gb_types=tuple(chain.values()),
        kind=min((cause.kind for cause in causes), key=KINDS.index),
        kinds=_count_kinds(causes),
        untraced=next(filter(None, map(_untraced, causes)), None),
        follows=_follows(first, watched),
        message=first.message,
        context=first.parts.context,
        explanation=first.parts.explanation,
        hints=first.parts.hints,
        stack=stack,
        compiled=len({id(cause.frame) for cause in causes}),
        frequency=_find_frequency(causes, watched.ran, past_limit),
        ops_before=_newest_ops(watched.compilations_with(inner)),
        ops_after=_newest_ops(watched.compilations_after(inner)),
        recompiles=find_recompiles({id(one): one for one in affected}.values()),
        lost_seconds=_lost_seconds(causes, inner, watched),
        compile_ids=tuple(dict.fromkeys(cause.compile_id for cause in causes if cause.compile_id)),
    )


def _count_kinds(causes: Iterable[Raised]) -> dict[str, int]:
    """What became of each compilation: the worst in it."""
    worst: dict[int, str] = {}
    for one in causes:
        worst[id(one.frame)] = min(worst.get(id(one.frame), one.kind), one.kind, key=KINDS.index)
    return dict(sorted(Counter(worst.values()).items(), key=lambda pair: -pair[1]))


def _untraced(one: Raised) -> tuple[int, int] | None:
    """First and last line of the rest of a function that was given up; None if there is none."""
    stack = stack_of(one)
    if (
        LIMIT in one.parts.gb_type
        or one.kind != "frame skipped"
        or one.frame is None
        or one.frame.code is None
        or not stack
    ):
        return None
    last = max((line for *_, line in one.frame.code.co_lines() if line), default=0)
    return (stack[0].line + 1, last) if last > stack[0].line else None


def _follows(one: Raised, watched: Watched) -> str:
    """`file:line` of the break that gave up a function which called this one; empty if there is none."""
    if one.frame is None:
        return ""
    # By id, because code that was generated may have constants that can't be hashed.
    given_up = {
        id(other.frame.code): other
        for other in reversed(watched.recorder.raised)
        if other.kind == "frame skipped" and other.frame is not None and _is_break(other)
    }
    origin = next((given_up[id(code)] for code in one.frame.callers if id(code) in given_up), None)
    if origin is None or origin.frame is one.frame:
        return ""
    at = stack_of(origin)[-1]
    return f"{at.file}:{at.line}"


def _plain(frame: UserFrame) -> UserFrame:
    return replace(frame, function=plain_name(frame.function))


def _chain(cause: Raised) -> list[Raised]:
    chain = [cause]
    while chain[-1].surfaced_as is not None:
        chain.append(chain[-1].surfaced_as)
    return chain


def _newest_ops(compilations: Sequence[Compilation]) -> int | None:
    """The number of ops of the newest compilation that produced code; None if there is none."""
    return next((one.ops for one in reversed(compilations) if one.installed), None)


def _lost_seconds(causes: Sequence[Raised], inner: Sequence[Raised], watched: Watched) -> float:
    """The compilation time that this break cost: attempts that were thrown away, and extra compilations.

    Extra are the compilations of the rests of functions after the break, and of the function with the break if it was
    to be inlined. Attempts that were thrown away in an extra compilation count for the break that happened there.
    """
    extra = {id(one) for one in watched.compilations_after(causes)}
    if len(inner) < len(causes):
        extra |= {id(one) for one in watched.compilations_with(inner) if not one.is_rest}
    broken = watched.compilations_with(causes)
    lost = sum(one.thrown_away if one.installed else one.seconds for one in broken)
    whole = [one for one in watched.compilations if id(one) in extra and one.installed]
    return lost + sum(one.seconds - one.thrown_away for one in whole)


def find_recompiles(compilations: Iterable[Compilation]) -> tuple[Recompile, ...]:
    """The compilations that were needed because a guard failed."""
    return tuple(
        Recompile(
            function=plain_name(one.name),
            file=one.file,
            line=one.line,
            guard=one.guard,
            compile_id=one.compile_id,
            seconds=one.seconds,
            hint=one.hint,
        )
        for one in compilations
        if one.guard
    )


def find_totals(compilations: Sequence[Compilation]) -> Totals:
    """The totals of a program. Graphs and ops are those of compilations that produced code.

    A function is one frame and each rest of it is one more, even if compiled several times. `compilations` and
    `compile_seconds` include failed compilations.
    """
    with_graph = [one for one in compilations if one.has_graph]
    return Totals(
        graphs=len(with_graph),
        ops=sum(one.ops or 0 for one in with_graph),
        frames=len({one.frame.code for one in compilations if one.installed and one.frame is not None}),
        compilations=len(compilations),
        compile_seconds=sum(one.seconds for one in compilations),
    )
