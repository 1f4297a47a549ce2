"""The data that readers take from logs: breaks, graphs, and questions that a log can't answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from registry.matching import Matcher
from repro_runner.capture.breaks import KINDS, RESUME_PREFIX
from repro_runner.explain.site import Site

_COMPILE_IDS_KEPT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedGraph:
    """One graph, from a log that shows the stages of each graph."""

    log_line: int
    last_stage: str
    stages: tuple[str, ...]
    error: str = ""
    location: str = ""
    """`file:line` of the user's code."""
    split_by: str = ""
    """What ended the graph before it: Dynamo, torch_xla or export; empty if the log does not show it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMessage:
    """A message of torch's that is no graph break, in all reports of it at one place."""

    slug: str
    """Its page; see registry.forms."""
    text: str
    """The first report, as torch printed it."""
    where: str
    """`file:line` of the user's code; empty if the log does not show it."""
    log: str
    log_line: int
    function: str = ""
    guard: str = ""
    """Of a function that was compiled again: the guard that failed."""
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """A question that this log can't answer, and the command that makes a log with the answer."""

    question: str
    why: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """What a reader found in one input."""

    format: str
    graphs: int | None = None
    """How many graphs were compiled; None if the log does not show it."""
    breaks: tuple[Site, ...] = ()
    messages: tuple[FoundMessage, ...] = ()
    """Messages of torch's that are no graph breaks."""
    graph_list: tuple[LoggedGraph, ...] = ()
    rank: str = ""
    torch: str = ""
    """The torch release that wrote the log, if the log names it."""
    errors: tuple[str, ...] = ()
    """Error messages of the program that wrote the log."""
    notes: tuple[str, ...] = ()
    unfit: tuple[Unfit, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)
    """JSON values that only this format has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What a reader gets before it reads."""

    log: str
    """The name of the file, as it is shown to the user."""
    matcher: Matcher
    torch: str | None = None
    """The release that wrote the log, if the user gave it."""
    rank: str = ""
    """The rank in the name of the file; empty if there is none."""


class Reader(Protocol):
    """Reads the blocks of one input, one after the other."""

    def feed(self, block: bytes) -> None:
        """Read a block of whole lines, or a piece of a long line: see blocks.py."""

    def finish(self) -> LogPart:
        """Call this after the last block. Returns what was found."""


class Format(Protocol):
    """A kind of log: a module with the functions `recognise` and `open_reader`, listed in FORMATS of analysis.py."""

    def recognise(self, head: bytes) -> bool:
        """Whether an input that starts with these bytes (its first block) is of this kind."""

    def open_reader(self, source: Input) -> Reader:
        """A reader for one input."""


class Gathering:
    """Collects reports of breaks, in the order of the first reports.

    All reports of the same break at the same place, by any rank, become one break with a count.
    """

    def __init__(self, breaks: Iterable[Site] = ()) -> None:
        self._breaks: dict[tuple[object, ...], Site] = {}
        for one in breaks:
            self.add(one)

    def add(self, one: Site) -> None:
        """Add a report to the same break at the same place, or start a new break."""
        key = _identity(one)
        before = self._breaks.get(key)
        self._breaks[key] = one if before is None else _combine(before, one)

    @property
    def breaks(self) -> tuple[Site, ...]:
        return tuple(self._breaks.values())


def _identity(one: Site) -> tuple[object, ...]:
    """The place and the cause of a break. The cause is its id; without one its type, and without that its message."""
    cause = one.gb_ids[:1] or one.gb_types[:1] or (one.message,)
    return one.file, one.line, *cause


def _combine(one: Site, other: Site) -> Site:
    types = dict(zip(other.gb_ids, other.gb_types, strict=False)) | dict(zip(one.gb_ids, one.gb_types, strict=False))
    gb_ids = tuple(dict.fromkeys([*one.gb_ids, *other.gb_ids]))
    named = one if one.function and not one.function.startswith(RESUME_PREFIX) else other if other.function else one
    ranks = dict(one.ranks)
    for rank, count in other.ranks.items():
        ranks[rank] = ranks.get(rank, 0) + count
    compile_ids = one.compile_ids
    if len(compile_ids) < _COMPILE_IDS_KEPT:
        compile_ids = tuple(dict.fromkeys([*compile_ids, *other.compile_ids]))[:_COMPILE_IDS_KEPT]
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


def gather_messages(messages: Iterable[FoundMessage]) -> tuple[FoundMessage, ...]:
    """One of each message at each place, with a count, in the order of the first reports."""
    found: dict[tuple[str, str, str], FoundMessage] = {}
    for one in messages:
        key = one.slug, one.where, one.guard
        before = found.get(key)
        found[key] = replace(before, count=before.count + one.count) if before else one
    return tuple(found.values())


def rank_order(rank: str) -> tuple[int, str]:
    """A sort key that orders ranks by their number."""
    return (int(rank), "") if rank.isdecimal() else (0, rank)
