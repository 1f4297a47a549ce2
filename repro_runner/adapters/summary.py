"""The result of a check as text for a terminal."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from registry.ids import page_address
from repro_runner.adapters.op_support import OpSupport
from repro_runner.adapters.placement import Placement
from repro_runner.adapters.transfers import Transfers

if TYPE_CHECKING:
    from repro_runner.adapters.check import CheckResult

_SHOWN_PER_RULE = 12
_SHOWN_LINES = 3
_SHOWN_REASONS = 5


def render_summary(result: CheckResult) -> str:
    """Graphs and breaks, violations by rule and line, ops with the refused ones first, partitions and transfers."""
    sections = [
        [f"device {result.device}, decompositions {result.decompositions}"],
        _breaks(result),
        _violations(result),
        _ops(result.ops),
        _placements(result),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def shown_source(source: str) -> str:
    """`file:line` as short as it can be: from the current folder, or from where packages are installed."""
    file, colon, line = source.rpartition(":")
    _, installed, package = file.rpartition("site-packages/")
    if installed:
        return f"{package}{colon}{line}"
    return f"{os.path.relpath(file)}{colon}{line}" if file and Path(file).is_relative_to(Path.cwd()) else source


def _breaks(result: CheckResult) -> list[str]:
    backwards = sum(each.backward is not None for each in result.graphs)
    counts = f"{_counted(len(result.graphs), 'graph')} ({backwards} with a backward)"
    rows = []
    for each in result.breaks:
        line = shown_source(f"{each.stack[-1].file}:{each.stack[-1].line}") if each.stack else ""
        rows.append((each.gb_id, line, page_address(each.gb_id) or each.gb_type))
    return [f"{counts}, {_counted(len(result.breaks), 'break')}", *_table(rows)]


def _violations(result: CheckResult) -> list[str]:
    if not result.violations:
        return ["nothing breaks the device's limits"] if result.graphs else []
    found = [violation for _, violation in result.violations]
    lines = [f"{_counted(len(found), 'violation')} of the device's limits"]
    for rule, count in Counter(each.rule for each in found).most_common():
        grouped = Counter(
            (shown_source(each.source), each.op, each.message) for each in found if each.rule == rule
        ).most_common()
        rows = [(source or "-", f"{times}x", op, message) for (source, op, message), times in grouped]
        lines += [f"  {rule} ({count})", *_table(rows[:_SHOWN_PER_RULE], indent=4)]
        if len(rows) > _SHOWN_PER_RULE:
            lines.append(f"    … and {len(rows) - _SHOWN_PER_RULE} more; violations.json has all of them")
    return lines


def _ops(ops: Sequence[OpSupport]) -> list[str]:
    if not ops:
        return []
    refused = [op for op in ops if not op.supported]
    heading = f"{_counted(sum(op.count for op in ops), 'op')} of {_counted(len(ops), 'kind')}, {len(refused)} refused"
    rows = [
        ("op", "count", "refused", "dtypes", "where"),
        *((op.op, str(op.count), str(op.refused or "-"), ", ".join(op.dtypes), _places(op.sources)) for op in ops),
    ]
    titles, *lines = _table(rows)
    reasons = [
        [f"      {reason.rule}: {reason.message} ({times}x)" for reason, times in op.reasons[:_SHOWN_REASONS]]
        for op in ops
    ]
    return [heading, titles, *(line for each in zip(lines, reasons, strict=True) for line in (each[0], *each[1]))]


def _places(sources: Sequence[str]) -> str:
    more = f" +{len(sources) - _SHOWN_LINES}" if len(sources) > _SHOWN_LINES else ""
    return ", ".join(map(shown_source, sources[:_SHOWN_LINES])) + more


def _placements(result: CheckResult) -> list[str]:
    if not result.placements:
        return []
    parts = sum(len(each.parts) for each in result.placements)
    on_device = sum(each.ops_on_device for each in result.placements)
    fallen_back = sum(each.ops_fallen_back for each in result.placements)
    return [
        f"{_counted(parts, 'partition')}: {_counted(on_device, 'op')} on the device, {fallen_back} on the host",
        *_table(list(map(_placement_row, result.placements))),
        f"transfers: {_crossings(result.transfers)}",
        f"a device with every op: {_crossings(result.least_transfers)}",
    ]


def _placement_row(placement: Placement) -> tuple[str, ...]:
    return (
        f"graph {placement.index} {placement.graph}",
        _counted(len(placement.parts), "partition"),
        f"{placement.ops_on_device} on the device",
        f"{placement.ops_fallen_back} on the host",
        f"{placement.transfers.to_device} in, {placement.transfers.to_host} out",
        f"peak {_size(placement.peak_bytes)}",
    )


def _crossings(transfers: Transfers) -> str:
    return (
        f"{transfers.to_device} to the device ({_size(transfers.bytes_to_device)}), "
        f"{transfers.to_host} to the host ({_size(transfers.bytes_to_host)})"
    )


def _size(size: int) -> str:
    number, units = float(size), ["B", "KiB", "MiB", "GiB", "TiB"]
    while number >= 1024 and len(units) > 1:
        number, units = number / 1024, units[1:]
    return f"{number:.1f} {units[0]}" if units[0] != "B" else f"{size} B"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _table(rows: Sequence[Sequence[str]], indent: int = 2) -> list[str]:
    """Columns aligned to the left, the last as long as it is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [" " * indent + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
