"""What a run left, as text for a terminal: the same verdicts and views that a page shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repro_runner.bench.text import render_rows
from repro_runner.output import markdown
from repro_runner.output.places import with_shown_places
from repro_runner.output.terminal import plain, table
from repro_runner.output.units import counted
from repro_runner.report.contents import RunContents, subject_of
from repro_runner.report.parts import MARKS
from repro_runner.report.parts.catalogue import judge_parts, missing_parts, unchecked
from repro_runner.report.parts.device import op_support_view, violations_view
from repro_runner.report.parts.dynamo import guards_view
from repro_runner.report.parts.graphs import describe_parts
from repro_runner.report.parts.minified import minified_verdict, minified_view
from repro_runner.report.parts.numerics import numerics_view

_EQUAL = {True: "equal", False: "DIFFERS"}


def summary_lines(contents: RunContents) -> Iterator[str]:
    """A line per part."""
    judged = judge_parts(contents)
    rows = [(MARKS[each.verdict.state], each.part.title, each.verdict.line) for each in judged]
    yield from table(rows) if rows else ["this run holds nothing to report"]
    if missing := missing_parts(contents):
        commands = (f"{', '.join(titles)} (graphbreak {verb})" for verb, titles in missing.items())
        yield f"not in this run: {', '.join(commands)}"
    yield from filter(None, [unchecked(contents)])


def markdown_lines(contents: RunContents) -> Iterator[str]:
    """The same as a table of Markdown, under the model's name."""
    yield f"## {markdown.plain(subject_of(contents))}\n"
    yield f"{markdown.code(contents.run.id)}\n"
    yield "| | part | verdict |\n|---|---|---|"
    for each in judge_parts(contents):
        yield f"| {MARKS[each.verdict.state]} | {each.part.title} | {markdown.plain(each.verdict.line)} |"
    yield f"\n{unchecked(contents)}\n" if unchecked(contents) else ""


def constraints_lines(contents: RunContents) -> Iterator[str]:
    """Violations by rule and line, then the ops that the device refuses."""
    if "violations" in contents.documents:
        yield from _violations(violations_view(contents.documents["violations"], contents))
    if "op_support" in contents.documents:
        yield ""
        yield from _op_support(op_support_view(contents.documents["op_support"], contents))


def _violations(view: Mapping[str, Any]) -> Iterator[str]:
    yield counted(sum(rule["count"] for rule in view["rules"]), "violation")
    for rule in view["rules"]:
        yield f"{plain(rule['rule'])} ({rule['count']})"
        for line in rule["lines"]:
            text = f"  {line['source'].text}" if line["source"].text else ""
            yield f"  {plain(line['source'].where or '(no line of the program)')}{plain(text)}"
            rows = [
                (f"{each['times']}x", each["op"], each["tensor"], each["graph"], each["message"] + _more(each["more"]))
                for each in line["findings"]
            ]
            yield from table(rows, indent="    ")


def _more(others: Sequence[Mapping[str, Any]], count: str = "times") -> str:
    return f", and {sum(each[count] for each in others)} more like this" if others else ""


def _op_support(view: Mapping[str, Any]) -> Iterator[str]:
    kinds = counted(len(view["refused"]) + len(view["taken"]), "kind")
    yield f"device {plain(view['device'])}: {len(view['refused'])} of {kinds} of op refused"
    for op in view["refused"]:
        yield f"  {plain(op['op'])}: {op['refused']} of {op['count']}"
        for reason, others in op["reasons"]:
            yield f"    {plain(reason['rule'])}: {plain(reason['message'])}{_more(others, 'count')}"
    yield from table([(figure, words) for figure, words in view["figures"]], right=(0,), indent="  ")


def graphs_lines(contents: RunContents) -> Iterator[str]:
    """A row per graph and its forward and backward; then the breaks between them."""
    head = ("graph", "", "nodes", "ops", "inputs", "outputs", "peak", "most frequent")
    rows = [
        (
            part["number"],
            part["title"],
            part["nodes"],
            part["op_count"],
            part["inputs"],
            part["outputs"],
            part["peak"] or "-",
            ", ".join(f"{op} {count}" for op, count in part["few_ops"]),
        )
        for document in contents.graphs.values()
        for part in describe_parts(document, contents.folder)
    ]
    yield from table([head, *rows], right=(0, 2, 3, 4, 5, 6))
    for each in contents.documents.get("breaks", {}).get("breaks", ()):
        yield "  ".join(plain(each[name]) for name in ("gb_id", "source", "gb_type", "link")).rstrip()
    yield f"texts, drawings and code are in {plain(contents.run.path / 'graphs')}"


def guards_lines(contents: RunContents) -> Iterator[str]:
    """Recompiles with what to do about them, then each graph's own guards."""
    view = guards_view(contents.documents["guards"], contents)
    again = sum(each["count"] for each in view["recompiles"])
    counts = ((len(view["calls"]), "call"), (len(view["graphs"]), "graph"), (again, "recompile"))
    yield ", ".join(counted(count, name) for count, name in counts)
    if view["failure"]:
        yield plain(view["failure"])
    for each in view["recompiles"]:
        yield f"recompiled {each['count']}x: {plain(each['function'])} ({plain(each['source'])})"
        yield from (f"  {plain(words)}" for words in each["seen"])
        if each["limit"]:
            yield f"  torch gave up: {plain(each['limit'])}"
        yield from (line for advice in each["advice"] for line in _advice(advice))
    for graph in view["graphs"]:
        yield f"{plain(graph['name'])} [{plain(graph['compile_id'])}]: {counted(len(graph['guards']), 'guard')}"
        rows = [(guard["words"], guard["line"]) for guard in graph["own"]]
        yield from table(rows, indent="  ") if rows else ()
        yield from (f"  {count} about {plain(group)}" for group, count in graph["usual"])


def _advice(advice: Mapping[str, Any]) -> Iterator[str]:
    tried = {True: " (tried: it helps)", False: " (tried: it does not help)"}.get(advice["holds"], "")
    yield f"  -> {plain(advice['words'])}{tried}"
    yield from (f"       {plain(line)}" for line in str(advice["code"]).splitlines())


def numerics_lines(contents: RunContents) -> Iterator[str]:
    """The verdict with its cause, then the values, the worst first."""
    view = numerics_view(contents.documents["numerics"], contents)
    yield f"{plain(view['document']['verdict'])} ({plain(view['about'])})"
    for sentence in (*view["cause"], *view["varies"]):
        yield plain(sentence)
    head = ("value", "like it", "tensor", *view["measures"], "mismatched", "")
    rows = [
        (row["name"], row["more"] or "", row["tensor"], *row["measures"], row["mismatched"], _EQUAL[row["passed"]])
        for row in view["rows"]
    ]
    yield from table([head, *rows], right=(1, *range(3, len(head) - 1))) if rows else ()
    yield from (f"{plain(row['name'])}: {plain(row['reason'])}" for row in view["rows"] if not row["passed"])


def bench_lines(contents: RunContents) -> Iterator[str]:
    """The tables that `graphbreak bench` prints."""
    yield from render_rows(contents.documents["bench"]["rows"]).splitlines()


def minified_lines(contents: RunContents) -> Iterator[str]:
    """How far it was shrunk, and the program."""
    document = contents.documents["minified"]
    yield plain(with_shown_places(minified_verdict(document, contents).line, contents.folder))
    if program := minified_view(document, contents).get("program"):
        yield f"{plain(contents.run.path / program.name)}\n"
        yield from map(plain, program.text.splitlines())
