"""What a trace tells, as JSON has it: one document per process, compilation by compilation."""

from __future__ import annotations

from typing import TypedDict

from repro_runner.logs.traces.model import Compilation, ProcessTrace


class BreakDocument(TypedDict):
    """One break of a compilation."""

    gb_ids: list[str]
    kind: str
    file: str
    line: int


class CompilationDocument(TypedDict):
    """One compilation of one frame; a guard says that it was compiled again, and why."""

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
