"""The data of a structured trace: processes, their compilations, and the breaks and graphs of each. Also as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypedDict

from registry.matching import Match
from repro_runner.capture.breaks import UserFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceBreak:
    """One break in one compilation."""

    match: Match
    """Its ids, its causes, and how they were recognised."""
    kind: str
    """resumed, frame skipped or fatal."""
    stack: tuple[UserFrame, ...]
    """Outermost first; the last frame is the line that broke."""
    line: int
    """The line in the trace."""

    @property
    def gb_ids(self) -> tuple[str, ...]:
        """The id of the cause, then the ids that it was reported as; empty for an unknown break."""
        return tuple(dict.fromkeys(match.gb_id for match in self.match.chain if match.gb_id))

    @property
    def place(self) -> tuple[str, int]:
        """File and line of the break. Without a stack, as some releases write it, they come from the message."""
        if self.stack:
            return self.stack[-1].file, self.stack[-1].line
        file, _, line = self.match.message.location.rpartition(":")
        return (file, int(line)) if line.isdecimal() and len(line) < 10 else ("", 0)


@dataclass(slots=True, kw_only=True)
class Compilation:
    """One compilation of one frame: "3/1" is frame 3, the second time."""

    compile_id: str
    function: str = ""
    file: str = ""
    line: int = 0
    seconds: float | None = None
    """None if the trace ends before the compilation does."""
    ops: int | None = None
    graphs: int = 0
    breaks: list[TraceBreak] = field(default_factory=list)
    guard: str = ""
    """torch's text for why it was compiled again; empty for a first compilation."""
    failure: str = ""
    """The class and first line of an error that is not a break; empty if there was none."""


@dataclass(slots=True, kw_only=True)
class ProcessTrace:
    """The compilations of one process."""

    pid: int
    rank: int | None = None
    torch: str = ""
    compilations: dict[str, Compilation] = field(default_factory=dict)
    """In the order in which they started."""

    def breaks(self) -> Iterator[tuple[Compilation, TraceBreak]]:
        for compilation in self.compilations.values():
            for found in compilation.breaks:
                yield compilation, found


class BreakDocument(TypedDict):
    """One break of a compilation."""

    gb_ids: list[str]
    kind: str
    file: str
    line: int


class CompilationDocument(TypedDict):
    """One compilation of one frame. If it was compiled again, `guard` says why."""

    compile_id: str
    function: str
    file: str
    line: int
    seconds: float | None
    ops: int | None
    graphs: int
    guard: str
    failure: str
    breaks: list[BreakDocument]


class ProcessDocument(TypedDict):
    """One process: its totals, then its compilations in the order in which they started."""

    rank: int | None
    pid: int
    torch: str
    graphs: int
    ops: int
    recompiles: int
    compile_seconds: float
    compilations: list[CompilationDocument]


def process_document(trace: ProcessTrace) -> ProcessDocument:
    """One process, with its totals."""
    compilations = list(trace.compilations.values())
    return {
        "rank": trace.rank,
        "pid": trace.pid,
        "torch": trace.torch,
        "graphs": sum(compilation.graphs for compilation in compilations),
        "ops": sum(compilation.ops or 0 for compilation in compilations),
        "recompiles": sum(1 for compilation in compilations if compilation.guard),
        "compile_seconds": round(sum(compilation.seconds or 0.0 for compilation in compilations), 6),
        "compilations": [_compilation_document(compilation) for compilation in compilations],
    }


def _compilation_document(compilation: Compilation) -> CompilationDocument:
    return {
        "compile_id": compilation.compile_id,
        "function": compilation.function,
        "file": compilation.file,
        "line": compilation.line,
        "seconds": compilation.seconds,
        "ops": compilation.ops,
        "graphs": compilation.graphs,
        "guard": compilation.guard,
        "failure": compilation.failure,
        "breaks": [
            {"gb_ids": list(found.gb_ids), "kind": found.kind, "file": found.place[0], "line": found.place[1]}
            for found in compilation.breaks
        ],
    }
