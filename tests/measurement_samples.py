"""Small made-up measurements for tests, in the form in which `graphbreak bench` writes them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

ENVIRONMENT = {
    "torch": "2.13.0",
    "python": "3.11",
    "device": "cpu",
    "device_name": "aarch64",
    "platform": "Linux aarch64",
    "date": "2026-01-02",
    "project": "0.1.0",
    "cores": 2,
}
Document = dict[str, Any]


def spread(middle: float, width: float = 0.0) -> dict[str, float]:
    return {"median": middle, "low": middle - width, "high": middle + width, "min": middle - width, "runs": 5}


def point(breaks: int, compiled: float, eager: float = 1.5, unit: float = 0.004, width: float = 0.01) -> Document:
    """Times in units of the compiled block without a break; what each break adds follows from them."""
    added = (compiled - 1) * unit / breaks if breaks else 0.0
    return {
        "breaks": breaks,
        "graphs": breaks + 1,
        "eager": {"seconds": spread(eager * unit), "relative": spread(eager, width)},
        "inductor": {"seconds": spread(compiled * unit), "relative": spread(compiled, width if breaks else 0)},
        "of_eager": spread(compiled / eager, width),
        "added_per_break_s": spread(added, 0.00001) if breaks else None,
    }


def curve(name: str, points: Sequence[Document]) -> Document:
    block = {"name": name, "layers": 32, "width": 64, "rows": 16, "dtype": "float32"}
    return {"block": block, "threads": 1, "clock": "CPU time", "rounds": 5, "points": list(points)}


def break_cost(curves: Sequence[Document] | None = None, **environment: object) -> Document:
    made = [curve("small", [point(0, 1.0), point(1, 1.1), point(16, 2.6)])] if curves is None else list(curves)
    return {"kind": "break_cost", "schema": 1, "environment": {**ENVIRONMENT, **environment}, "curves": made}


ROW: Mapping[str, Any] = {
    "model": "bert",
    "title": "BERT-base-multilingual",
    "size": "full",
    "sample": "128 tokens",
    "backend": "inductor",
    "status": "measured",
    "parameters": 177853440,
    "samples": 4,
    "threads": 2,
    "clock": "wall time",
    "compile_s": {"cold": 31.4, "warm": 4.2},
    "latency": spread(0.25, 0.05),
    "throughput": 16.0,
    "memory": 3 * 1024**2,
    "graphs": 1,
    "breaks": 0,
    "break_ids": [],
    "violations": None,
    "numerics": {"passed": True, "verdict": "inductor equals eager in 2 values", "max_absolute_error": 1e-6},
}
EAGER_ROW = {
    **ROW,
    "backend": "eager",
    "compile_s": {"cold": None, "warm": None},
    "memory": None,
    "graphs": None,
    "breaks": None,
    "numerics": None,
}
FAILED_ROW = {
    **{name: ROW[name] for name in ("model", "title", "size", "sample")},
    "backend": "aot",
    "status": "failed",
    "cause": "was killed by SIGKILL: <b>",
}


def bench(rows: Sequence[Mapping[str, Any]] = (EAGER_ROW, ROW, FAILED_ROW), **environment: object) -> Document:
    limits = {"alignment": "16", "max_memory": "17179869184"}
    made = {**ENVIRONMENT, "transformers": "5.8.0", "limits": limits, **environment}
    head = {"kind": "bench", "schema": 1, "environment": made, "memory_is": "the rise of resident memory"}
    return {**head, "rows": copy.deepcopy(list(rows))}
