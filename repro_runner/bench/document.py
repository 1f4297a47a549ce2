"""Measurements as documents: bench.json and break_cost.json of a run, and the files of `registry/measurements/`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypedDict

from registry.documents import Document, head
from repro_runner.bench.catalogue import BACKENDS, MODELS
from repro_runner.environment import describe_environment

MEMORY = {
    "cpu": "the rise of the process's resident memory from the model made to the peak of a call; "
    "the weights are not in it, what a compiler keeps is",
    "other": "the most that the device's allocator held during a call; the weights are in it",
}
"""Kind of device -> what the bytes of a row are."""


class Spread(TypedDict):
    """A number that was measured many times: median, quartiles (`low`, `high`), minimum, and how often."""

    median: float
    low: float
    high: float
    min: float
    runs: int


class Roofline(TypedDict):
    """What the device reached in the process of a row, and the shares of that which a call has."""

    dtype: str
    """Of the matmul: that of most of the model's numbers."""
    copy_bytes_per_s: float
    """Read and written by a plain copy."""
    matmul_flops_per_s: float | None
    bytes: int
    """Which a call has to read or write at least: weights, inputs and outputs, each once."""
    flops: int
    """Of its matmuls, convolutions and attention."""
    of_copy: float
    of_matmul: float | None


class Row(TypedDict, total=False):
    """A model under a backend. One that failed has its names, its status and the cause."""

    model: str
    title: str
    size: str | None
    sample: str | None
    backend: str
    status: str
    """`measured` or `failed`."""
    cause: str
    parameters: int
    samples: int | None
    threads: int
    clock: str
    latency: Spread
    throughput: float | None
    memory: int | None
    graphs: int | None
    breaks: int | None
    break_ids: list[str]
    violations: int | None
    numerics: dict[str, Any] | None
    gradients: bool
    """A call is a forward and a backward."""
    roofline: Roofline | None
    compile_s: dict[str, float | None]
    """`cold` and `warm`: seconds of the first call with an empty and with a filled cache."""


class BenchDocument(Document):
    """bench.json."""

    environment: dict[str, Any]
    memory_is: str
    rows: list[Row]


class CurvePoint(TypedDict):
    """The block with this number of breaks."""

    breaks: int
    graphs: int
    eager: dict[str, Spread]
    inductor: dict[str, Spread]
    of_eager: Spread
    added_per_break_s: Spread | None


class Curve(TypedDict):
    """One block with more and more breaks."""

    block: dict[str, Any]
    threads: int
    clock: str
    rounds: int
    points: list[CurvePoint]


class BreakCostDocument(Document):
    """break_cost.json."""

    environment: dict[str, Any]
    curves: list[Curve]


def describe_machine(device: str) -> dict[str, Any]:
    """The machine, and the limits of the mock accelerator. Raises NoTorch or NoGpu."""
    return {
        **describe_environment(device),
        "cores": os.cpu_count(),
        "transformers": _installed("transformers"),
        "limits": _limits(),
    }


def _limits() -> dict[str, str]:
    """The limits of the mock accelerator that are in force: `{"alignment": "1", …}`."""
    from repro_runner.constraints.base import constraints_with_settings

    settings = [each.setting for each in constraints_with_settings() if each.setting]
    found = {one.variable: one.default for one in settings if one.variable}
    found |= {name: text for one in settings for name in one.variables() if (text := os.environ.get(name))}
    return {name.removeprefix("MOCK_").lower(): str(value) for name, value in found.items() if value is not None}


def bench_document(environment: Mapping[str, Any], rows: Iterable[Row]) -> BenchDocument:
    """The content of bench.json."""
    return {
        **head("bench"),
        "environment": dict(environment),
        "memory_is": MEMORY.get(environment["device"], MEMORY["other"]),
        "rows": list(rows),
    }


def break_cost_document(environment: Mapping[str, Any], curves: Iterable[Curve]) -> BreakCostDocument:
    """The content of break_cost.json."""
    own = {name: value for name, value in environment.items() if name not in ("transformers", "limits")}
    return {**head("break_cost"), "environment": own, "curves": list(curves)}


def lay_over(before: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    """`before` with newer rows in place of those of the same model and backend; only `newer` if the machine differs."""
    if before.get("kind") != "bench" or newer["kind"] != "bench" or _place(before) != _place(newer):
        return dict(newer)
    rows = {(row["model"], row["backend"]): row for row in [*before["rows"], *newer["rows"]]}
    order = [(model, backend) for model in MODELS for backend in BACKENDS]
    known = [key for key in order if key in rows]
    return {**newer, "rows": [rows[key] for key in [*known, *(key for key in rows if key not in known)]]}


def _place(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document["environment"].items() if name not in ("date", "project")}


def file_name(kind: str, environment: Mapping[str, Any]) -> str:
    """The file in `registry/measurements/` that a document has."""
    what = {"bench": "models", "break_cost": "break-cost"}[kind]
    return f"{what}-{environment['torch']}-{environment['device']}.json"


def dump_document(document: Mapping[str, Any]) -> str:
    """As a file of `registry/measurements/`: one space, where a run's own file has two."""
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
