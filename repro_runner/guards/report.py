"""What was found out about a model's guards: as text for a terminal, and as guards.json of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

from registry.documents import Document, head
from registry.ids import page_address
from repro_runner.capture import CapturedBreak
from repro_runner.guards.advice import NOTHING, Advice
from repro_runner.guards.changes import Change
from repro_runner.output.places import shown_where
from repro_runner.output.terminal import plain
from repro_runner.output.units import counted
from repro_runner.process.isolated import shortened


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
    """The group in which it is only counted, for guards that most graphs have; empty if it gets a line of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledGraph:
    """A function, or the rest of one after a break, with its guards."""

    name: str
    source: str
    compile_id: str
    guards: tuple[Guard, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recompile:
    """One reason for which a function was compiled again, and how often."""

    function: str
    source: str
    changes: tuple[Change, ...]
    """Why the compiled graph that was nearest did not fit, the first time."""
    seen: tuple[str, ...]
    """The changes in words, once per recompile, with the values of that time."""
    compile_ids: tuple[str, ...]
    reason: str
    """In torch's words, the first time."""
    generalised: bool
    """Whether the last graph that was compiled for it also accepts other values."""
    limit: str
    """`recompile_limit (8)`, if torch then gave up compiling the function; empty otherwise."""
    advice: tuple[Advice, ...] = ()

    @property
    def count(self) -> int:
        return len(self.seen)


class GuardsDocument(Document):
    """guards.json of a run."""

    subject: str
    calls: list[str]
    failure: str
    graphs: list[dict[str, Any]]
    recompiles: list[dict[str, Any]]
    advice: list[dict[str, Any]]
    compiled_in: dict[str, int]
    """Earlier versions did not write it."""


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
    """The error of a call that fails only under torch.compile; empty if none does."""
    compiled_in: Mapping[str, int] = field(default_factory=dict)
    """Compile id -> the call, from 1, in which torch compiled it, or gave up."""

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

    def document(self) -> GuardsDocument:
        """guards.json: plain values."""
        advice = self.advice
        return {
            **head("guards"),
            "subject": self.subject,
            "calls": list(self.calls),
            "failure": self.failure,
            "graphs": [asdict(graph) for graph in self.graphs],
            "recompiles": [_recompile_document(one, advice) for one in self.recompiles],
            "advice": [asdict(each) for each in advice],
            "compiled_in": dict(self.compiled_in),
        }


def _recompile_document(one: Recompile, advice: tuple[Advice, ...]) -> dict[str, Any]:
    """The recompile in plain values; its advice as positions in the document's list."""
    return {**asdict(one), "count": one.count, "advice": [advice.index(each) for each in one.advice]}


_SHOWN = 3
"""How many recompiles of one reason are shown."""
_LIMIT = (
    "is reached: torch compiles this function no more; a call that no graph fits runs without torch.compile, "
    "and so does what it calls; with fullgraph=True it raises"
)


def render_summary(report: GuardReport) -> str:
    """Counts, calls, breaks, recompiles and advice."""
    return "\n".join(map(plain, _summary_lines(report)))


def render_report(report: GuardReport, *, everything: bool = False) -> str:
    """Each graph's guards, then the summary. Of a graph that is not its function's first, only what differs."""
    earlier: dict[tuple[str, str], CompiledGraph] = {}
    lines: list[str] = []
    for graph in report.graphs:
        function = (graph.name, graph.source)
        lines += [*_graph_lines(graph, None if everything else earlier.get(function), everything=everything), ""]
        earlier[function] = graph
    return "\n".join(map(plain, (*lines, *_summary_lines(report))))


def _summary_lines(report: GuardReport) -> Iterator[str]:
    counts = [
        counted(len(report.graphs), "graph"),
        counted(sum(len(graph.guards) for graph in report.graphs), "guard"),
        counted(sum(each.count for each in report.breaks), "break"),
        counted(report.recompile_count, "recompile"),
    ]
    yield f"{report.subject or 'compiled code'}: {', '.join(counts)}"
    yield from _call_lines(report.calls)
    if report.failure:
        yield f"failed: {shortened(report.failure)}"
    yield from _break_lines(report.breaks)
    for one in report.recompiles:
        yield from _recompile_lines(one)


def _call_lines(calls: Sequence[str]) -> Iterator[str]:
    """Equal calls in a row on one line."""
    number = 1
    for words, equal in groupby(calls):
        last = number + len(list(equal)) - 1
        yield f"  call {number}: {words}" if last == number else f"  calls {number} to {last}: {words}"
        number = last + 1


def _break_lines(breaks: Sequence[CapturedBreak]) -> Iterator[str]:
    """Breaks at one line are counted together, also those in different graphs."""
    at_one_place: Counter[tuple[str, str, str]] = Counter()
    for each in breaks:
        line = f"{each.stack[-1].file}:{each.stack[-1].line}" if each.stack else ""
        at_one_place[each.gb_id, each.gb_type, line] += each.count
    for (gb_id, gb_type, line), count in at_one_place.items():
        yield f"break {gb_id}: {f'{shown_where(line)}: ' if line else ''}{gb_type}{_times(count)}"
        if link := page_address(gb_id):
            yield f"  {link}"


def _recompile_lines(one: Recompile) -> Iterator[str]:
    yield f"recompile of {one.function} ({shown_where(one.source)}){_times(one.count)}"
    yield from (f"  {words}" for words in one.seen[:_SHOWN])
    if one.count > _SHOWN:
        yield f"  … and {one.count - _SHOWN} more"
    if lines := list(dict.fromkeys(shown_where(change.user_line) for change in one.changes if change.user_line)):
        yield f"  because of {', '.join(lines)}"
    if one.generalised:
        yield "  the new graph takes other values of it, too"
    if one.limit:
        yield f"  LIMIT: {one.limit} {_LIMIT}"
    for advice in one.advice:
        yield from _advice_lines(advice)


def _advice_lines(advice: Advice) -> Iterator[str]:
    if advice.holds is False:
        yield f"  does not help: {'; '.join(advice.code.splitlines())} ({advice.tried})"
        return
    label = "note" if advice.how == NOTHING else "advice"
    yield f"  {label}: {advice.words}{f' ({advice.tried})' if advice.tried else ''}"
    for line in advice.code.splitlines():
        yield f"      {line}  # {advice.how}"


def _graph_lines(graph: CompiledGraph, earlier: CompiledGraph | None, *, everything: bool) -> Iterator[str]:
    known = {guard.words for guard in earlier.guards} if earlier else set()
    as_before = f"; as {earlier.compile_id}, but" if earlier else ""
    count = counted(len(graph.guards), "guard")
    yield f"{graph.name} ({shown_where(graph.source)}), compiled as {graph.compile_id}: {count}{as_before}"
    yield from (
        f"  {_guard_line(each)}" for each in graph.guards if everything or not (each.group or each.words in known)
    )
    if earlier:
        now = {guard.words for guard in graph.guards}
        yield from (f"  no longer: {each.words}" for each in earlier.guards if not each.group and each.words not in now)
    elif not everything:
        groups = Counter(guard.group for guard in graph.guards if guard.group)
        yield from (f"  {counted(number, 'guard')} on {group}: unchanged" for group, number in groups.items())


def _guard_line(guard: Guard) -> str:
    role = f"{guard.source}: {guard.role}" if guard.role and guard.source else ""
    place = ", ".join(part for part in (role, shown_where(guard.user_line)) if part)
    return f"{guard.words} ({place})" if place else guard.words


def _times(count: int) -> str:
    return "" if count == 1 else f", {count} times"
