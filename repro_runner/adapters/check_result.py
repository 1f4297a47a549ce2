"""What was found out about one model on one device: as documents of a run, and as text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.documents import Document, head
from registry.ids import page_address
from repro_runner.adapters.op_support import OpRecord, OpSupport, op_record
from repro_runner.adapters.placement import PartitionRecord, Placement, Transfers, partition_record
from repro_runner.capture import CapturedBreak
from repro_runner.capture.breaks import BreaksDocument, breaks_document
from repro_runner.constraints import Violation, violation_record, violations_document
from repro_runner.constraints.checking import ViolationsDocument
from repro_runner.graphs import TracedGraph
from repro_runner.output.places import shown_where
from repro_runner.output.terminal import plain, table
from repro_runner.output.units import counted, size

_SHOWN_PER_RULE = 12
_SHOWN_LINES = 3
_SHOWN_REASONS = 5
_INDENT = "  "


class OpSupportDocument(Document):
    """The content of op_support.json."""

    device: str
    decompositions: str
    ops: list[OpRecord]
    partition: PartitionRecord


class CheckDocument(Document):
    """What `graphbreak check --json` prints."""

    refused: bool
    run: str
    breaks: BreaksDocument
    violations: ViolationsDocument
    op_support: OpSupportDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What was found. `documents()` are the files of a run, `summary()` is for a terminal."""

    device: str
    decompositions: str
    graphs: tuple[TracedGraph, ...]
    breaks: tuple[CapturedBreak, ...]
    """Those that happened."""
    violations: tuple[tuple[int, Violation], ...]
    """Each with the index of its graph."""
    ops: tuple[OpSupport, ...]
    placements: tuple[Placement, ...]

    @property
    def refused(self) -> bool:
        """Does the device refuse anything? Also true if it gets no graph at all, since the model breaks everywhere."""
        return bool(self.violations) or not self.graphs

    @property
    def transfers(self) -> Transfers:
        return sum((each.transfers for each in self.placements), Transfers())

    @property
    def least_transfers(self) -> Transfers:
        """The transfers if the device had every op."""
        return sum((each.least_transfers for each in self.placements), Transfers())

    def summary(self) -> str:
        """Plain text; paths are relative to the current folder where they can be."""
        return _render_summary(self)

    def document(self, run: str) -> CheckDocument:
        """All of it; `run` is the id of the run that was made."""
        support: OpSupportDocument = {
            **head("op_support"),
            "device": self.device,
            "decompositions": self.decompositions,
            "ops": list(map(op_record, self.ops)),
            "partition": partition_record(self.placements),
        }
        return {
            **head("check"),
            "refused": self.refused,
            "run": run,
            "breaks": breaks_document(self.breaks),
            "violations": violations_document(violation_record(each, index) for index, each in self.violations),
            "op_support": support,
        }

    def documents(self) -> dict[str, Mapping[str, Any]]:
        """File name -> content, of the files of a run."""
        whole = self.document("")
        return {
            "breaks.json": whole["breaks"],
            "violations.json": whole["violations"],
            "op_support.json": whole["op_support"],
        }


def _render_summary(result: CheckResult) -> str:
    """Graphs and breaks, violations by rule and line, ops with the refused ones first, partitions and transfers."""
    sections = [
        [f"device {result.device}, decompositions {result.decompositions}"],
        _breaks(result),
        _violations(result),
        _ops(result.ops),
        _placements(result),
    ]
    return "\n\n".join("\n".join(map(plain, lines)) for lines in sections if lines)


def _breaks(result: CheckResult) -> list[str]:
    backwards = sum(each.backward is not None for each in result.graphs)
    counts = f"{counted(len(result.graphs), 'graph')} ({backwards} with a backward)"
    rows = []
    for each in result.breaks:
        line = shown_where(f"{each.stack[-1].file}:{each.stack[-1].line}") if each.stack else ""
        rows.append((each.gb_id, line, page_address(each.gb_id) or each.gb_type))
    return [f"{counts}, {counted(len(result.breaks), 'break')}", *table(rows, indent=_INDENT)]


def _violations(result: CheckResult) -> list[str]:
    if not result.violations:
        return ["nothing breaks the device's limits"] if result.graphs else []
    found = [violation for _, violation in result.violations]
    lines = [f"{counted(len(found), 'violation')} of the device's limits"]
    for rule, count in Counter(each.rule for each in found).most_common():
        grouped = Counter(
            (shown_where(each.source), each.subject, each.message) for each in found if each.rule == rule
        ).most_common()
        rows = [(source or "-", f"{times}x", subject, message) for (source, subject, message), times in grouped]
        lines += [f"  {rule} ({count})", *table(rows[:_SHOWN_PER_RULE], indent="    ")]
        if len(rows) > _SHOWN_PER_RULE:
            lines.append(f"    … and {len(rows) - _SHOWN_PER_RULE} more; violations.json has all of them")
    return lines


def _ops(ops: Sequence[OpSupport]) -> list[str]:
    if not ops:
        return []
    refused = [op for op in ops if not op.supported]
    heading = f"{counted(sum(op.count for op in ops), 'op')} of {counted(len(ops), 'kind')}, {len(refused)} refused"
    rows = [
        ("op", "count", "refused", "dtypes", "where"),
        *((op.op, str(op.count), str(op.refused or "-"), ", ".join(op.dtypes), _places(op.sources)) for op in ops),
    ]
    titles, *lines = table(rows, indent=_INDENT)
    reasons = [
        [f"      {reason.rule}: {reason.message} ({times}x)" for reason, times in op.reasons[:_SHOWN_REASONS]]
        for op in ops
    ]
    return [heading, titles, *(line for each in zip(lines, reasons, strict=True) for line in (each[0], *each[1]))]


def _places(sources: Sequence[str]) -> str:
    more = f" +{len(sources) - _SHOWN_LINES}" if len(sources) > _SHOWN_LINES else ""
    return ", ".join(map(shown_where, sources[:_SHOWN_LINES])) + more


def _placements(result: CheckResult) -> list[str]:
    if not result.placements:
        return []
    parts = sum(len(each.parts) for each in result.placements)
    on_device = sum(each.ops_on_device for each in result.placements)
    fallen_back = sum(each.ops_fallen_back for each in result.placements)
    return [
        f"{counted(parts, 'partition')}: {counted(on_device, 'op')} on the device, {fallen_back} on the host",
        *table(list(map(_placement_row, result.placements)), indent=_INDENT),
        f"transfers: {_crossings(result.transfers)}",
        f"a device with every op: {_crossings(result.least_transfers)}",
    ]


def _placement_row(placement: Placement) -> tuple[str, ...]:
    return (
        f"graph {placement.index} {placement.graph}",
        counted(len(placement.parts), "partition"),
        f"{placement.ops_on_device} on the device",
        f"{placement.ops_fallen_back} on the host",
        f"{placement.transfers.to_device} in, {placement.transfers.to_host} out",
        f"peak {size(placement.peak_bytes)}",
    )


def _crossings(transfers: Transfers) -> str:
    return (
        f"{transfers.to_device} to the device ({size(transfers.bytes_to_device)}), "
        f"{transfers.to_host} to the host ({size(transfers.bytes_to_host)})"
    )
