"""What was found out about a model's guards; the document of a run is guards.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from repro_runner.capture import CapturedBreak
from repro_runner.guards.advice import Advice
from repro_runner.guards.change import Change
from repro_runner.guards.rendering import render_report, render_summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """One thing that must hold for a compiled graph to be used again."""

    kind: str
    """As torch calls it: TENSOR_MATCH."""
    source: str
    """What it protects, as the user calls it: `self.l.weight`; empty for the state of the process."""
    role: str
    """`argument of forward`."""
    words: str
    user_line: str
    """`file:line` of the user's code that made torch look at it."""
    code: str
    """As torch writes it."""
    group: str = ""
    """Those that are the same in most graphs, and of little interest, are told by the group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledGraph:
    """A function, or the rest of one after a break, with its guards."""

    name: str
    source: str
    compile_id: str
    guards: tuple[Guard, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recompile:
    """One reason to compile a function again, and how many times it was one."""

    function: str
    source: str
    changes: tuple[Change, ...]
    """Why the compiled graph that was nearest did not fit, the first time."""
    seen: tuple[str, ...]
    """The same in words, each time with the values of that time."""
    compile_ids: tuple[str, ...]
    reason: str
    """As torch tells it, the first time."""
    generalised: bool
    """The last graph that was compiled for it takes other values of the kind, too."""
    limit: str
    """`recompile_limit (8)`, if torch then gave up compiling the function; empty otherwise."""
    advice: tuple[Advice, ...] = ()

    @property
    def count(self) -> int:
        return len(self.seen)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardReport:
    """Graphs in the order in which they were compiled; `print` shows all of it, `summary` what to act on."""

    graphs: tuple[CompiledGraph, ...]
    breaks: tuple[CapturedBreak, ...]
    recompiles: tuple[Recompile, ...]
    subject: str = ""
    calls: tuple[str, ...] = ()
    """What each call was made with."""
    failure: str = ""
    """A call that torch.compile fails, and that works without it."""

    @property
    def recompile_count(self) -> int:
        return sum(one.count for one in self.recompiles)

    @property
    def limits_hit(self) -> tuple[Recompile, ...]:
        return tuple(one for one in self.recompiles if one.limit)

    @property
    def advice(self) -> tuple[Advice, ...]:
        """Of all recompiles, each once."""
        return tuple(dict.fromkeys(each for one in self.recompiles for each in one.advice))

    def summary(self) -> str:
        """Counts, breaks, recompiles and advice."""
        return render_summary(self)

    def text(self, *, everything: bool = False) -> str:
        """The summary and each graph's guards; `everything` spells the groups out."""
        return render_report(self, everything=everything)

    def __str__(self) -> str:
        return self.text()

    def document(self) -> dict[str, Any]:
        """guards.json: plain values."""
        advice = self.advice
        return {
            "kind": "guards",
            "schema": 1,
            "subject": self.subject,
            "calls": list(self.calls),
            "failure": self.failure,
            "graphs": [asdict(graph) for graph in self.graphs],
            "recompiles": [_recompile(one, advice) for one in self.recompiles],
            "advice": [asdict(each) for each in advice],
        }


def _recompile(one: Recompile, advice: tuple[Advice, ...]) -> dict[str, Any]:
    """Advice by its place in the document's list."""
    return {**asdict(one), "count": one.count, "advice": [advice.index(each) for each in one.advice]}
