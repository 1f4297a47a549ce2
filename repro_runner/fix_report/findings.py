"""What is handed over, whoever found it: a run of a program, or a log. No torch here."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repro_runner.capture.breaks import UserFrame
    from repro_runner.explain.report import Report
    from repro_runner.explain.running import ProgramToRun
    from repro_runner.explain.site import Site

_LIBRARIES = [sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")]
"""Packages first: their folder is within Python's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A line at which graphs break, and how often."""

    file: str = ""
    """Empty where a log does not say."""
    line: int = 0
    function: str = ""
    source: str = ""
    compiled: int = 1
    """In how many compilations; of a log, how often it is told there."""
    ran: int | None = None
    why_unknown: str = ""
    """Why nobody could count how often it ran."""
    message: str = ""
    """As torch put it, where that differs from place to place."""
    lost_seconds: float = 0.0
    stack: tuple[UserFrame, ...] = ()
    """From the outermost frame that was being compiled to this line."""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}" if self.file else "the log does not say where"

    @property
    def shown(self) -> str:
        """The same for a reader: without the current folder, or the one that this machine has a library in."""
        folder = self._library or str(Path.cwd())
        if not Path(self.file).is_relative_to(folder):
            return self.where
        return f"{Path(self.file).relative_to(folder).as_posix()}:{self.line}"

    @property
    def in_library(self) -> bool:
        """Whether that file is Python's own, or an installed package's."""
        return bool(self._library)

    @property
    def _library(self) -> str:
        return next((folder for folder in _LIBRARIES if Path(self.file).is_relative_to(folder)), "")

    @property
    def count(self) -> int:
        return self.compiled if self.ran is None else self.ran


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Breaks of one kind: the same ids, at one or more places."""

    gb_ids: tuple[str, ...]
    """The cause first, then what it surfaced as; empty for a message that nobody knows."""
    gb_types: tuple[str, ...]
    """The type of each id; of an unknown message, what it says."""
    kind: str = ""
    """fatal, frame skipped or resumed; empty where a log does not say."""
    message: str = ""
    """As torch put it."""
    locations: tuple[Location, ...]
    """The most frequent first, those in libraries last."""

    @property
    def gb_id(self) -> str:
        return self.gb_ids[0] if self.gb_ids else ""

    @property
    def count(self) -> int:
        return sum(place.count for place in self.locations)

    @property
    def lost_seconds(self) -> float:
        return sum(place.lost_seconds for place in self.locations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Everything that `write_handover` needs to know."""

    subject: str
    """`train.py --steps 3`, or the names of the logs."""
    causes: tuple[Cause, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """torch, python, device and so on, as far as known."""
    facts: tuple[tuple[str, str], ...] = ()
    """Further lines of the summary: ("graphs", "8")."""
    remarks: tuple[str, ...] = ()
    """What the reader has to know first: the program failed half-way; the log is unfit for a question."""
    program: ProgramToRun | None = None
    """What can be run again; None for a log."""
    torch_xla: bool = False
    """Whether repros are wanted in torch_xla form, too: for logs of tt-xla."""


def by_frequency(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """The most frequent first, then the dearest; places likewise, those in libraries last."""
    sorted_places = (_with_sorted_places(cause) for cause in causes)
    return tuple(sorted(sorted_places, key=lambda cause: (-cause.count, -cause.lost_seconds, cause.gb_ids)))


def _with_sorted_places(cause: Cause) -> Cause:
    """What is in the reader's hands comes first."""

    def order(place: Location) -> tuple[bool, int, float, str, int]:
        return place.in_library, -place.count, -place.lost_seconds, place.file, place.line

    return replace(cause, locations=tuple(sorted(cause.locations, key=order)))


def findings_of_program(report: Report, program: ProgramToRun) -> Findings:
    """What a run of a program showed: sites with the same chain of ids have the same cause."""
    chains: dict[tuple[str, ...], list[Site]] = {}
    for site in report.sites:
        chains.setdefault(site.gb_ids, []).append(site)
    totals = report.totals
    ended = report.program.error.partition("\n")[0]
    return Findings(
        subject=" ".join([program.name, *program.arguments]),
        causes=by_frequency(_cause(sites) for sites in chains.values()),
        environment=report.environment,
        facts=(
            ("graphs", str(totals.graphs)),
            ("ops in graphs", str(totals.ops)),
            ("compilations", f"{totals.compilations} of {totals.frames} functions and rests of functions"),
            ("recompiles", str(len(report.recompiles))),
            ("time spent compiling", f"{totals.compile_seconds:.2f} s"),
            ("of that lost to breaks", f"{sum(site.lost_seconds for site in report.sites):.2f} s"),
        ),
        remarks=(f"The program ended with an error, and this is what was seen up to there: {ended}",) if ended else (),
        program=program,
    )


def _cause(sites: list[Site]) -> Cause:
    first = sites[0]
    return Cause(
        gb_ids=first.gb_ids,
        gb_types=first.gb_types,
        kind=first.kind,
        message=first.message,
        locations=tuple(
            Location(
                file=site.file,
                line=site.line,
                function=site.function,
                source=site.source,
                compiled=site.compiled,
                ran=site.frequency.ran,
                why_unknown=site.frequency.why_unknown,
                message=site.message,
                lost_seconds=site.lost_seconds,
                stack=site.stack,
            )
            for site in sites
        ),
    )
