"""Measurements as documents: bench.json and break_cost.json of a run, and the files of `registry/measurements/`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from repro_runner.bench.catalogue import BACKENDS, MODELS
from repro_runner.environment import describe_environment

SCHEMA = 1
Document = dict[str, Any]

MEMORY = {
    "cpu": "the rise of the process's resident memory from the model made to the peak of a call; "
    "the weights are not in it, what a compiler keeps is",
    "cuda": "the most that torch's CUDA allocator held during a call; the weights are in it",
}
"""Device -> what the bytes of a row are."""

_LIMITS = {"alignment": ("MOCK_ALIGNMENT", "1"), "max_memory": ("MOCK_MAX_MEMORY", "17179869184")}


def describe_machine(device: str) -> dict[str, Any]:
    """Where is measured, and with which limits of the mock accelerator; NoTorch, NoGpu."""
    limits = {name: os.environ.get(variable) or default for name, (variable, default) in _LIMITS.items()}
    return {
        **describe_environment(device),
        "cores": os.cpu_count(),
        "transformers": _installed("transformers"),
        "limits": limits,
    }


def bench_document(environment: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Document:
    head = {"kind": "bench", "schema": SCHEMA, "environment": dict(environment)}
    return {**head, "memory_is": MEMORY[environment["device"]], "rows": list(rows)}


def break_cost_document(environment: Mapping[str, Any], curves: Iterable[Mapping[str, Any]]) -> Document:
    own = {name: value for name, value in environment.items() if name not in ("transformers", "limits")}
    return {"kind": "break_cost", "schema": SCHEMA, "environment": own, "curves": list(curves)}


def lay_over(before: Document, newer: Document) -> Document:
    """Newer rows in place of those of the same model and backend. The others stay, if they are from the same place."""
    if before.get("kind") != "bench" or newer["kind"] != "bench" or _place(before) != _place(newer):
        return newer
    rows = {(row["model"], row["backend"]): row for row in [*before["rows"], *newer["rows"]]}
    order = [(model, backend) for model in MODELS for backend in BACKENDS]
    known = [key for key in order if key in rows]
    return {**newer, "rows": [rows[key] for key in [*known, *(key for key in rows if key not in known)]]}


def _place(document: Document) -> dict[str, Any]:
    return {name: value for name, value in document["environment"].items() if name not in ("date", "project")}


def file_name(kind: str, environment: Mapping[str, Any]) -> str:
    """The file in `registry/measurements/` that a document has."""
    what = {"bench": "models", "break_cost": "break-cost"}[kind]
    return f"{what}-{environment['torch']}-{environment['device']}.json"


def dump_document(document: Document) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
