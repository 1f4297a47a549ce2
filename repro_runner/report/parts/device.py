"""What a device refuses: violations by rule and source line; ops, and the parts that a graph is cut into."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro_runner.output.places import shown_where
from repro_runner.output.units import counted, size
from repro_runner.report.contents import RunContents
from repro_runner.report.parts import BREAKS, DOUBT, WORKS, Verdict, fold, likeness

_SHOWN_LINES = 8
"""Of a rule; the others are folded."""
_LARGEST = 2_000_000
"""Bytes of a file whose lines are quoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A line of the program: `file:line`, how that is shown, and the text of the line."""

    where: str
    shown: str
    text: str = ""
    """Empty if the file is gone, or was changed after it was looked at."""


def violations_verdict(document: Mapping[str, Any], contents: RunContents) -> Verdict:
    found = document["violations"]
    if not found:
        graphs = counted(len(contents.graphs), "graph")
        return Verdict(state=WORKS, line=f"nothing in {graphs} breaks a limit" if contents.graphs else "no violations")
    rules = Counter(each["rule"] for each in found)
    lines = {each["source"] for each in found if each["source"]}
    findings = ", ".join(f"{rule} ({count})" for rule, count in rules.most_common(3))
    more = f" and {counted(len(rules) - 3, 'other rule')}" if len(rules) > 3 else ""
    where = f" on {counted(len(lines), 'line')} of the program" if lines else ""
    line = f"{counted(len(found), 'violation')}{where}: {findings}{more}"
    return Verdict(
        state=BREAKS, line=line, figures={"violations": len(found), "rules": len(rules), "lines": len(lines)}
    )


def violations_view(document: Mapping[str, Any], contents: RunContents) -> dict[str, Any]:
    """Rules, the most broken first; in each the lines of the program, the worst first; in each what is wrong there."""
    by_rule: dict[str, list[Mapping[str, Any]]] = {}
    for each in document["violations"]:
        by_rule.setdefault(each["rule"], []).append(each)
    rules = sorted(by_rule.items(), key=lambda item: (-len(item[1]), item[0]))
    return {
        "shown": _SHOWN_LINES,
        "rules": [{"rule": rule, "count": len(found), "lines": _lines(found, contents)} for rule, found in rules],
    }


def _lines(found: Sequence[Mapping[str, Any]], contents: RunContents) -> list[dict[str, Any]]:
    by_line: dict[str, Counter[tuple[str, str, str, str]]] = {}
    for each in found:
        subject = each.get("name") or each["op"]  # an op has no name, nor had anything in an earlier version
        finding = (subject, tensor_text(each["dtype"], each["shape"]), each["message"], each["graph"])
        by_line.setdefault(each["source"], Counter())[finding] += 1
    return [
        {
            "source": _read_source_line(where, contents),
            "count": findings.total(),
            "findings": _fold_findings(
                {"op": op, "tensor": tensor, "message": message, "graph": graph, "times": times}
                for (op, tensor, message, graph), times in findings.most_common()
            ),
        }
        for where, findings in sorted(by_line.items(), key=lambda item: (-item[1].total(), _order(item[0])))
    ]


def _fold_findings(findings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings that differ in their shapes alone are one, with the others as its `more`."""
    folded = fold(findings, lambda each: (each["op"], likeness(each["tensor"]), likeness(each["message"])))
    return [{**first, "more": more} for first, more in folded]


def worst_violations(document: Mapping[str, Any], contents: RunContents) -> list[dict[str, Any]]:
    """A row for each rule, op and kind of message, wherever in the program; the most frequent first."""
    found = document["violations"]
    folded = fold(found, lambda each: (each["rule"], each["op"], each["dtype"], likeness(each["message"])))
    return [
        {
            **{name: first[name] for name in ("rule", "op", "message")},
            "tensor": tensor_text(first["dtype"], first["shape"]),
            "where": shown_where(first["source"], contents.folder),
            "count": 1 + len(more),
            "lines": len({each["source"] for each in (first, *more)}),
        }
        for first, more in sorted(folded, key=lambda item: -len(item[1]))
    ]


def _read_source_line(where: str, contents: RunContents) -> SourceLine:
    """The line of the program; no text if its file was changed after violations.json was written."""
    file, _, number = where.rpartition(":")
    if not file or not number.isdecimal():
        return SourceLine(where=where, shown=where)
    text = _read_line(contents.folder / file, int(number), contents.run.path / "violations.json")
    return SourceLine(where=where, shown=shown_where(where, contents.folder), text=text)


def _read_line(file: Path, number: int, document: Path) -> str:
    """Empty if the file is newer than `document`, can't be read, is not Python, is too large, or has no such line."""
    try:
        found = file.stat()
        if file.suffix != ".py" or found.st_size > _LARGEST or found.st_mtime > document.stat().st_mtime:
            return ""
        lines = file.read_text("utf-8", "replace").splitlines()
    except (OSError, ValueError):  # gone, or no name that a disk would take
        return ""
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _order(where: str) -> tuple[str, int]:
    file, _, number = where.rpartition(":")
    return file, int(number) if number.isdecimal() else 0


def tensor_text(dtype: str | None, shape: Sequence[int | str] | None) -> str:
    """`float32[4, s77]`."""
    return "" if dtype is None else f"{dtype}[{', '.join(map(str, shape or ()))}]"


def op_support_verdict(document: Mapping[str, Any], _contents: RunContents) -> Verdict:
    ops, partition = document["ops"], document["partition"]
    refused = sum(not op["supported"] for op in ops)
    device = document["device"]
    if not refused:
        return Verdict(state=WORKS, line=f"{device} takes all {counted(len(ops), 'kind')} of op")
    extra = _crossings(partition["transfers"]) - _crossings(partition["least_transfers"])
    cost = f"; falling back costs {counted(extra, 'transfer')} more" if extra > 0 else ""
    line = (
        f"{device} refuses {refused} of {counted(len(ops), 'kind')} of op, {partition['ops_fallen_back']} in all{cost}"
    )
    figures = {"ops that fall back": partition["ops_fallen_back"], "kinds refused": refused, "more transfers": extra}
    return Verdict(state=DOUBT, line=line, figures=figures)


def op_support_view(document: Mapping[str, Any], contents: RunContents) -> dict[str, Any]:
    """Ops, the refused ones apart; and how each graph is cut."""
    partition = document["partition"]
    ops = [
        {
            **op,
            "sources": [shown_where(each, contents.folder) for each in op["sources"]],
            "reasons": fold(op["reasons"], lambda reason: (reason["rule"], likeness(reason["message"]))),
        }
        for op in document["ops"]
    ]
    return {
        "device": document["device"],
        "decompositions": document["decompositions"],
        "refused": [op for op in ops if not op["supported"]],
        "taken": [op for op in ops if op["supported"]],
        "figures": [
            (partition["ops_on_device"], "ops on the device"),
            (partition["ops_fallen_back"], "ops fall back to the host"),
            (partition["partitions"], "partitions"),
            (_crossings(partition["transfers"]), f"transfers, {_bytes(partition['transfers'])}"),
            (_crossings(partition["least_transfers"]), f"if it had every op, {_bytes(partition['least_transfers'])}"),
        ],
        "graphs": [
            {
                **graph,
                "on_device": sum(sum(part["ops"].values()) for part in graph["partitions"]),
                "on_host": sum(graph["fallen_back"].values()),
            }
            for graph in partition["graphs"]
        ],
    }


def _crossings(transfers: Mapping[str, int]) -> int:
    return transfers["to_device"] + transfers["to_host"]


def _bytes(transfers: Mapping[str, int]) -> str:
    return size(transfers["bytes_to_device"] + transfers["bytes_to_host"])
