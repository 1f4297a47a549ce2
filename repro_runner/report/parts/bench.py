"""Measurements: a row per model and backend, and what a break costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from repro_runner.output.units import counted, seconds, size
from repro_runner.report.contents import RunContents
from repro_runner.report.parts import BREAKS, PLAIN, Verdict

_BAR = 100
_DIFFERENT = "differ"
_SHARES = ("of_copy", "of_matmul")
Row = Mapping[str, Any]


def bench_verdict(document: Mapping[str, Any], _contents: RunContents) -> Verdict:
    rows: Sequence[Row] = document["rows"]
    failed = sum(row["status"] != "measured" for row in rows)
    differ = sum(_numerics(row["numerics"]) == _DIFFERENT for row in rows if row["status"] == "measured")
    findings = [_fastest(rows)]
    findings += [f"{counted(failed, 'row')} failed"] * bool(failed)
    findings += [f"numbers differ from eager's in {counted(differ, 'row')}"] * bool(differ)
    return Verdict(state=BREAKS if failed or differ else PLAIN, line="; ".join(findings))


def _fastest(rows: Sequence[Row]) -> str:
    """The best of the backends, against eager."""
    ratios = [(ratio, row) for row in rows if row["backend"] != "eager" and (ratio := _speedup(row, rows)) is not None]
    if not ratios:
        return f"{counted(len(rows), 'row')} measured"
    ratio, row = max(ratios, key=lambda each: each[0])
    if ratio >= 1:
        return f"{row['backend']} is {ratio:.2f} times as fast as eager on {row['model']}"
    return f"nothing is faster than eager; {row['backend']} takes {1 / ratio:.2f} times as long on {row['model']}"


def bench_view(document: Mapping[str, Any], _contents: RunContents) -> dict[str, Any]:
    """Rows as measured; bars compare the backends of one model."""
    return {"memory_is": document["memory_is"], "rows": [_row_view(row, document["rows"]) for row in document["rows"]]}


def _row_view(row: Row, rows: Sequence[Row]) -> dict[str, Any]:
    name = {"model": row["model"], "backend": row["backend"]}
    if row["status"] != "measured":
        return {**name, "cause": row["cause"]}
    times, compiling, ratio = row["latency"], row["compile_s"], _speedup(row, rows)
    slowest = max(each["latency"]["median"] for each in _measured_rows(row, rows))
    return {
        **name,
        "cause": "",
        "latency": seconds(times["median"]),
        "spread": f"{seconds(times['low'])} – {seconds(times['high'])}",
        "bar": max(1, round(_BAR * times["median"] / slowest)),
        "speedup": "" if ratio is None else f"{ratio:.2f}×",
        "cold": _optional(compiling["cold"], seconds),
        "warm": _optional(compiling["warm"], seconds),
        "throughput": _optional(row["throughput"], lambda count: f"{count:.4g}/s"),
        "memory": _optional(row["memory"], size),
        **{share: _optional((row.get("roofline") or {}).get(share), "{:.1%}".format) for share in _SHARES},
        "graphs": _optional(row["graphs"], str),
        "breaks": _optional(row["breaks"], str),
        "violations": _optional(row["violations"], str),
        "numerics": _numerics(row["numerics"]),
    }


def bench_ratios(document: Mapping[str, Any], _contents: RunContents) -> list[dict[str, Any]]:
    """Each row in short, as numbers: the time of a call, and eager's time divided by it."""
    rows: Sequence[Row] = document["rows"]
    return [
        {
            "model": f"{row['model']} ({row['size']})" if row["size"] not in (None, "full") else str(row["model"]),
            "backend": str(row["backend"]),
            "seconds": float(row["latency"]["median"]) if row["status"] == "measured" else None,
            "against_eager": _speedup(row, rows),
            "numerics": _numerics(row["numerics"]) if row["status"] == "measured" else "",
            "failure": "" if row["status"] == "measured" else row["cause"],
        }
        for row in rows
    ]


def break_cost_verdict(document: Mapping[str, Any], _contents: RunContents) -> Verdict:
    added = [
        point["added_per_break_s"]["median"]
        for curve in document["curves"]
        for point in curve["points"]
        if point["added_per_break_s"] is not None
    ]
    if not added:
        return Verdict(state=PLAIN, line="not measured")
    least, most = seconds(min(added)), seconds(max(added))
    return Verdict(state=PLAIN, line=f"each break adds {least if least == most else f'{least} to {most}'}")


def break_cost_view(document: Mapping[str, Any], _contents: RunContents) -> dict[str, Any]:
    """A table per block."""
    return {
        "curves": [
            {"title": _block(curve["block"]), "points": _points(curve["points"])} for curve in document["curves"]
        ]
    }


def _block(block: Mapping[str, Any]) -> str:
    return (
        f"{block['name']}: {block['layers']} layers of width {block['width']}, {block['rows']} rows, {block['dtype']}"
    )


def _points(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    slowest = max(point["inductor"]["seconds"]["median"] for point in points)
    return [
        {
            "breaks": point["breaks"],
            "graphs": point["graphs"],
            "bar": max(1, round(_BAR * point["inductor"]["seconds"]["median"] / slowest)),
            "inductor": seconds(point["inductor"]["seconds"]["median"]),
            "eager": seconds(point["eager"]["seconds"]["median"]),
            "relative": f"{point['inductor']['relative']['median']:.2f}×",
            "added": _optional(point["added_per_break_s"], lambda spread: seconds(spread["median"])),
        }
        for point in points
    ]


def _measured_rows(row: Row, rows: Sequence[Row]) -> list[Row]:
    return [each for each in rows if each["model"] == row["model"] and each["status"] == "measured"]


def _speedup(row: Row, rows: Sequence[Row]) -> float | None:
    """Against eager on the same model; None if either was not measured."""
    eager = [each for each in _measured_rows(row, rows) if each["backend"] == "eager"]
    if row["status"] != "measured" or not eager:
        return None
    return float(eager[0]["latency"]["median"] / row["latency"]["median"])


def _optional(value: Any, shown: Callable[[Any], str]) -> str:
    return "–" if value is None else shown(value)


def _numerics(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "–"
    return "equal" if found["passed"] else _DIFFERENT
