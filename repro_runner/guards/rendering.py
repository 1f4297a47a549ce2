"""The report as text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from registry.ids import page_address
from repro_runner.capture import CapturedBreak
from repro_runner.guards.advice import NOTHING, Advice
from repro_runner.output.places import shown_where
from repro_runner.output.terminal import plain
from repro_runner.output.units import counted

if TYPE_CHECKING:
    from repro_runner.guards.report import CompiledGraph, Guard, GuardReport, Recompile

_SHOWN = 3
"""As many of the values seen at recompiles."""
_LIMIT = (
    "is reached: torch compiles this function no more; a call that no graph fits runs without torch.compile, "
    "and so does what it calls; with fullgraph=True it raises"
)


def render_summary(report: GuardReport) -> str:
    """Counts, calls, breaks, recompiles and advice."""
    return "\n".join(map(plain, _summary(report)))


def render_report(report: GuardReport, *, everything: bool = False) -> str:
    """Each graph's guards, then the summary. Of a graph that is not its function's first, only what differs."""
    earlier: dict[tuple[str, str], CompiledGraph] = {}
    lines: list[str] = []
    for graph in report.graphs:
        function = (graph.name, graph.source)
        lines += [*_graph(graph, None if everything else earlier.get(function), everything=everything), ""]
        earlier[function] = graph
    return "\n".join(map(plain, (*lines, *_summary(report))))


def _summary(report: GuardReport) -> Iterator[str]:
    counts = [
        counted(len(report.graphs), "graph"),
        counted(sum(len(graph.guards) for graph in report.graphs), "guard"),
        counted(sum(each.count for each in report.breaks), "break"),
        counted(report.recompile_count, "recompile"),
    ]
    yield f"{report.subject or 'compiled code'}: {', '.join(counts)}"
    yield from _calls(report.calls)
    if report.failure:
        yield f"failed: {report.failure}"
    yield from _breaks(report.breaks)
    for one in report.recompiles:
        yield from _recompile(one)


def _calls(calls: Sequence[str]) -> Iterator[str]:
    """Equal calls in a row on one line."""
    number = 1
    for words, alike in groupby(calls):
        last = number + len(list(alike)) - 1
        yield f"  call {number}: {words}" if last == number else f"  calls {number} to {last}: {words}"
        number = last + 1


def _breaks(breaks: Sequence[CapturedBreak]) -> Iterator[str]:
    """Those at one place together, however many graphs they were met in."""
    alike: Counter[tuple[str, str, str]] = Counter()
    for each in breaks:
        line = f"{each.stack[-1].file}:{each.stack[-1].line}" if each.stack else ""
        alike[each.gb_id, each.gb_type, line] += each.count
    for (gb_id, gb_type, line), count in alike.items():
        yield f"break {gb_id}: {f'{shown_where(line)}: ' if line else ''}{gb_type}{_times(count)}"
        if link := page_address(gb_id):
            yield f"  {link}"


def _recompile(one: Recompile) -> Iterator[str]:
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
        yield from _advice(advice)


def _advice(advice: Advice) -> Iterator[str]:
    if advice.holds is False:
        yield f"  does not help: {'; '.join(advice.code.splitlines())} ({advice.tried})"
        return
    label = "note" if advice.how == NOTHING else "advice"
    yield f"  {label}: {advice.words}{f' ({advice.tried})' if advice.tried else ''}"
    for line in advice.code.splitlines():
        yield f"      {line}  # {advice.how}"


def _graph(graph: CompiledGraph, earlier: CompiledGraph | None, *, everything: bool) -> Iterator[str]:
    known = {guard.words for guard in earlier.guards} if earlier else set()
    as_before = f"; as {earlier.compile_id}, but" if earlier else ""
    count = counted(len(graph.guards), "guard")
    yield f"{graph.name} ({shown_where(graph.source)}), compiled as {graph.compile_id}: {count}{as_before}"
    yield from (f"  {_guard(each)}" for each in graph.guards if everything or not (each.group or each.words in known))
    if earlier:
        now = {guard.words for guard in graph.guards}
        yield from (f"  no longer: {each.words}" for each in earlier.guards if not each.group and each.words not in now)
    elif not everything:
        groups = Counter(guard.group for guard in graph.guards if guard.group)
        yield from (f"  {counted(number, 'guard')} on {group}: unchanged" for group, number in groups.items())


def _guard(guard: Guard) -> str:
    role = f"{guard.source}: {guard.role}" if guard.role and guard.source else ""
    place = ", ".join(part for part in (role, shown_where(guard.user_line)) if part)
    return f"{guard.words} ({place})" if place else guard.words


def _times(count: int) -> str:
    return "" if count == 1 else f", {count} times"
