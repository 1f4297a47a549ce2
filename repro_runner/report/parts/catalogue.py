"""Every part that a report can have, in the order in which it shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from repro_runner.output.places import with_shown_places
from repro_runner.report.contents import RunContents, subject_of
from repro_runner.report.parts import BREAKS, DOUBT, Verdict
from repro_runner.report.parts.bench import bench_verdict, bench_view, break_cost_verdict, break_cost_view
from repro_runner.report.parts.device import op_support_verdict, op_support_view, violations_verdict, violations_view
from repro_runner.report.parts.dynamo import breaks_verdict, breaks_view, guards_verdict, guards_view
from repro_runner.report.parts.graphs import graphs_verdict, graphs_view
from repro_runner.report.parts.minified import minified_verdict, minified_view
from repro_runner.report.parts.numerics import numerics_verdict, numerics_view

MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What the code that reads a document may raise if the content of the document is wrong."""

_Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A kind of document, and what a report makes of it; `verb` is the command that writes one."""

    kind: str
    title: str
    verb: str
    verdict: Callable[[_Document, RunContents], Verdict]
    view: Callable[[_Document, RunContents], dict[str, Any]]


PARTS = (
    Part(kind="violations", title="Device limits", verb="check", verdict=violations_verdict, view=violations_view),
    Part(kind="op_support", title="Op support", verb="check", verdict=op_support_verdict, view=op_support_view),
    Part(kind="breaks", title="Graph breaks", verb="check", verdict=breaks_verdict, view=breaks_view),
    Part(kind="numerics", title="Numerics", verb="diff", verdict=numerics_verdict, view=numerics_view),
    Part(kind="guards", title="Guards", verb="guards", verdict=guards_verdict, view=guards_view),
    Part(kind="minified", title="Smallest program", verb="minify", verdict=minified_verdict, view=minified_view),
    Part(kind="bench", title="Benchmark", verb="bench", verdict=bench_verdict, view=bench_view),
    Part(
        kind="break_cost",
        title="Cost of a break",
        verb="bench --break-cost",
        verdict=break_cost_verdict,
        view=break_cost_view,
    ),
    Part(kind="graphs", title="Graphs", verb="check", verdict=graphs_verdict, view=graphs_view),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A part of a run with its verdict. `document` is None if it failed or can't be read."""

    part: Part
    verdict: Verdict
    document: _Document | None


def judge_parts(contents: RunContents) -> list[Judged]:
    """The parts that were run. If one failed, or its document can't be understood, its verdict is the reason."""
    found = (_judge_part(part, contents) for part in PARTS)
    return [each for each in found if each is not None]


def missing_parts(contents: RunContents) -> dict[str, list[str]]:
    """Verb -> titles of the parts that were not run, and that this verb would make."""
    there = {each.part.kind for each in judge_parts(contents)}
    missing: dict[str, list[str]] = {}
    for part in PARTS:
        if part.kind not in there:
            missing.setdefault(part.verb, []).append(part.title)
    return missing


def unchecked(*found: RunContents) -> str:
    """What no part of these runs looked at; empty if every model is one graph, or if nothing was checked."""
    looked = {"violations": "checked against the device's limits", "numerics": "compared op by op"}
    broken = {subject_of(each): each.documents.keys() & looked for each in found if _has_breaks(each)}
    left_out = [words for kind, words in looked.items() if any(kind in kinds for kinds in broken.values())]
    if not left_out:
        return ""
    where = "Ops outside of graphs (at a break, or in Python between two graphs)"
    about = f" This is about {', '.join(broken)}." if len(found) > 1 else ""
    return f"{where} were not {', and not '.join(left_out)}.{about}"


def _has_breaks(contents: RunContents) -> bool:
    """A diff lists no breaks, but counts graphs."""
    graphs = contents.documents.get("numerics", {}).get("graphs")
    return bool(contents.documents.get("breaks", {}).get("breaks")) or (isinstance(graphs, int) and graphs > 1)


def damaged(error: Exception) -> str:
    """The message about a document whose content does not fit its kind."""
    return f"its document is damaged ({type(error).__name__}: {error}); run it again"


def _judge_part(part: Part, contents: RunContents) -> Judged | None:
    if part.kind in contents.failures:
        return _undocumented(
            part, BREAKS, f"failed: {with_shown_places(contents.failures[part.kind], contents.folder)}"
        )
    if part.kind in contents.unreadable:
        return _undocumented(part, DOUBT, f"its document can't be read: {contents.unreadable[part.kind]}")
    document = contents.graphs if part.kind == "graphs" else contents.documents.get(part.kind)
    if not document:
        return None
    try:
        verdict = part.verdict(document, contents)
        shown = replace(verdict, line=with_shown_places(verdict.line, contents.folder))
        return Judged(part=part, verdict=shown, document=document)
    except MALFORMED as error:
        return _undocumented(part, DOUBT, damaged(error))


def _undocumented(part: Part, state: str, line: str) -> Judged:
    return Judged(part=part, verdict=Verdict(state=state, line=line), document=None)
