"""Measurements as text for a terminal. Names and messages come from the user's files: none can steer the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from repro_runner.bench.catalogue import BACKENDS, MODELS, SIZES
from repro_runner.output.terminal import plain, table
from repro_runner.output.units import seconds, size

_COLUMNS = (
    *("", "first call, cold", "warm", "latency", "quartiles", "least", "samples/s", "memory"),
    *("of copy", "of matmul", "graphs", "breaks", "violations", "equals eager"),
)


def render_catalogue() -> str:
    """What `--list` shows."""
    models = [["model", "size", "parameters", "a sample", "samples on cpu", "on cuda"]]
    for model in MODELS.values():
        for variant in SIZES:
            shape = model.sizes[variant]
            batch = [str(shape.batch[device]) for device in ("cpu", "cuda")]
            models.append([model.name, variant, f"{shape.parameters:,}", shape.sample_is, *batch])
    backends = [["backend", ""], *([name, description] for name, description in BACKENDS.items())]
    return "\n".join([*table(models), "", *table(backends)])


def render_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """A table per model."""
    lines: list[str] = []
    for _, group in groupby(rows, key=lambda row: row["model"]):
        found = list(group)
        cells = [list(_COLUMNS), *(_cells(row) for row in found if row["status"] == "measured")]
        notes = [_heading(found)]
        notes += [f"{row['backend']} failed: {row['cause']}" for row in found if row["status"] == "failed"]
        notes += [f"{row['backend']} breaks: {', '.join(row['break_ids'])}" for row in found if row.get("break_ids")]
        notes += [row["numerics"]["verdict"] for row in found if row.get("numerics") and not row["numerics"]["passed"]]
        notes += _rates(found)
        heading, *others = map(plain, notes)
        lines += ["", heading, *(table(cells) if len(cells) > 1 else []), *others]
    return "\n".join(lines[1:])


def render_curves(curves: Iterable[Mapping[str, Any]]) -> str:
    """A table per block: times against those of the compiled block without a break."""
    lines: list[str] = []
    for curve in curves:
        block, unit = curve["block"], curve["points"][0]["inductor"]["seconds"]["median"]
        cells = [["breaks", "graphs", "eager", "quartiles", "compiled", "quartiles", "each break adds"]]
        for point in curve["points"]:
            added = point["added_per_break_s"]
            times = [text for way in ("eager", "inductor") for text in _ratio(point[way]["relative"])]
            each = seconds(added["median"]) if added else ""
            cells.append([str(point["breaks"]), str(point["graphs"]), *times, each])
        lines += [
            "",
            f"{block['name']} block: {block['layers']} layers of x + relu(linear(norm(x))) on {block['rows']} × "
            f"{block['width']}, {block['dtype']}. In times of its {seconds(unit)} compiled and without a break:",
            *table(cells),
        ]
    return "\n".join(lines[1:])


def _rates(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the two shares are of: the rates differ from row to row, since each is measured beside its row."""
    found = [line for row in rows if (line := row.get("roofline"))]
    if not found:
        return []
    copies = [line["copy_bytes_per_s"] for line in found]
    matmuls = [rate for line in found if (rate := line["matmul_flops_per_s"]) is not None]
    copy = f"of copy: weights, inputs and outputs once, against a plain copy ({_range(copies, 1e9)} GB/s)"
    matmul = f"of matmul: multiply-adds, against a large {found[0]['dtype']} matmul ({_range(matmuls, 1e9)} GFLOP/s)"
    if any((line["of_matmul"] or 0) > 1 for line in found):
        matmul += "; above 100%: computed in TF32, or by a method that needs fewer"
    return [copy, *([matmul] if matmuls else [])]


def _range(rates: Sequence[float], unit: float) -> str:
    least, most = (f"{rate / unit:,.0f}" for rate in (min(rates), max(rates)))
    return least if least == most else f"{least} to {most}"


def _heading(rows: Sequence[Mapping[str, Any]]) -> str:
    row = next((row for row in rows if row["status"] == "measured"), rows[0])
    if row["status"] == "failed":
        return str(row["title"])
    sample = f", each {row['sample']}" if row["sample"] else ""
    samples = "" if row["samples"] is None else f"; {row['samples']} to a batch{sample}"
    return f"{row['title']}: {row['parameters']:,} parameters{samples}"


def _cells(row: Mapping[str, Any]) -> list[str]:
    latency, numerics = row["latency"], row["numerics"]
    return [
        row["backend"],
        *(_known(row["compile_s"][cache], seconds) for cache in ("cold", "warm")),
        seconds(latency["median"]),
        f"{seconds(latency['low'])} – {seconds(latency['high'])}",
        seconds(latency["min"]),
        _known(row["throughput"], lambda value: f"{value:,.0f}" if value >= 100 else f"{value:.3g}"),
        _known(row["memory"], size),
        *(_known((row.get("roofline") or {}).get(share), "{:.1%}".format) for share in ("of_copy", "of_matmul")),
        *(_known(row[count], str) for count in ("graphs", "breaks", "violations")),
        "–" if numerics is None else "yes" if numerics["passed"] else "NO",
    ]


def _known(value: Any, shown: Any) -> str:
    return "–" if value is None else str(shown(value))


def _ratio(relative: Mapping[str, float]) -> tuple[str, str]:
    return f"{relative['median']:.2f}", f"{relative['low']:.2f} – {relative['high']:.2f}"
