"""What a log tells: its breaks, its graphs, and what it is not fit to tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from registry.matching import Matcher
from repro_runner.explain.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedGraph:
    """One graph of a log that tells what became of each."""

    log_line: int
    last_stage: str
    stages: tuple[str, ...]
    error: str = ""
    location: str = ""
    """file:line of the user's code."""
    split_by: str = ""
    """Who ended the graph before it: Dynamo, torch_xla, export; empty where the log does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """A question that this log can't answer, and the command line that makes one which can."""

    question: str
    why: str
    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """What one reader found in one input."""

    format: str
    graphs: int | None = None
    """How many graphs were compiled; None where the log does not tell."""
    breaks: tuple[Site, ...] = ()
    graph_list: tuple[LoggedGraph, ...] = ()
    rank: str = ""
    torch: str = ""
    """The release that wrote the log, where it says so."""
    errors: tuple[str, ...] = ()
    """What went wrong in the program that wrote the log, in its words."""
    notes: tuple[str, ...] = ()
    unfit: tuple[Unfit, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)
    """What only this format tells, as JSON has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What a reader knows before it reads."""

    log: str
    """The name of the file, as people are shown it."""
    matcher: Matcher
    torch: str | None = None
    """The release that wrote the log, where somebody said so."""
    rank: str = ""
    """From the name of the file; empty where it does not tell."""


class Reader(Protocol):
    """Takes the blocks of one input, one after the other."""

    def feed(self, block: bytes) -> None:
        """A block of whole lines, or a piece of a long line: see blocks.py."""

    def finish(self) -> LogPart:
        """After the last block: what was found."""


class Format(Protocol):
    """A kind of log. A module is one: `NAME`, `recognise`, `open_reader`."""

    NAME: str

    def recognise(self, head: bytes) -> bool:
        """Whether an input that starts with these bytes (its first block) is of this kind."""

    def open_reader(self, source: Input) -> Reader:
        """A reader for one input."""
