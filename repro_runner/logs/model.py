"""The data that readers take from logs: breaks, graphs, and questions that a log can't answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from registry.matching import Matcher
from repro_runner.explain.site import Site


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


def gather_messages(messages: Iterable[FoundMessage]) -> tuple[FoundMessage, ...]:
    """One of each message at each place, with a count, in the order of the first reports."""
    found: dict[tuple[str, str, str], FoundMessage] = {}
    for one in messages:
        key = one.slug, one.where, one.guard
        before = found.get(key)
        found[key] = replace(before, count=before.count + one.count) if before else one
    return tuple(found.values())
