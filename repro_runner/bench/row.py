"""Measure one model under one backend, in a process of its own. Needs torch, the standard library, and transformers for
the models whose shapes come from there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from registry.errors import InvalidInput
from repro_runner.bench.break_cost import measure_break_cost
from repro_runner.bench.catalogue import MODELS, Measurement
from repro_runner.bench.measuring import PeakMemory, clock_of, first_call, latency, rounded, watch_compilation
from repro_runner.bench.networks import count_parameters, make_subject
from repro_runner.diff import ComparisonConfig, diff_model
from repro_runner.diff.config import plain_number
from repro_runner.graphs.by_name import Backend, find_backend
from repro_runner.model_under_test import ModelUnderTest, load_model
from repro_runner.values import tensors_in

_CHECKS_LIMITS = frozenset({"mock", "aot"})


def measure(arguments: dict[str, Any], _folder: Path) -> dict[str, Any]:
    """The task of a child: the measurement, or why there is none."""
    measurement = Measurement(**arguments)
    try:
        return measure_row(measurement) if measurement.model else {"curves": measure_break_cost(measurement)}
    except InvalidInput as error:
        return {"failed": str(error)}
    except Exception as error:  # noqa: BLE001 - a model and a backend may raise anything, and it costs their row alone
        if isinstance(error, ModuleNotFoundError) and error.name == "transformers":
            return {"failed": "transformers is not installed; `pip install graph-break-registry[toolkit]`"}
        cause = getattr(error, "inner_exception", None) or error  # the backend's error; Dynamo wraps it
        first = str(cause).strip().partition("\n")[0]
        return {"failed": f"{type(cause).__name__}: {first}" if first else type(cause).__name__}


def measure_row(measurement: Measurement) -> dict[str, Any]:
    """Everything that one process can measure for a row; with `only_compile`, only the time of the first call."""
    subject = (
        make_subject(measurement.model, measurement.size, measurement.device)
        if measurement.model in MODELS
        else load_model(measurement.model, device=measurement.device)
    )
    with torch.no_grad():
        return _time_first_call(subject, measurement) if measurement.only_compile else _full_row(subject, measurement)


def _time_first_call(subject: ModelUnderTest, measurement: Measurement) -> dict[str, Any]:
    call = _call(subject, measurement.backend)
    return {"first_call": first_call(call, measurement.device)}


def _full_row(subject: ModelUnderTest, measurement: Measurement) -> dict[str, Any]:
    device, backend = measurement.device, measurement.backend
    memory = PeakMemory(device)
    call = _call(subject, backend)
    with watch_compilation() as compilation:
        first = first_call(call, device)
    times = latency(call, device, warmup=measurement.warmup, runs=measurement.runs)
    samples = _samples(subject)
    eager = backend == "eager"
    return {
        "parameters": count_parameters(subject.model),
        "samples": samples,
        "threads": torch.get_num_threads(),
        "clock": clock_of(device),
        "first_call": first,
        "latency": times,
        "throughput": rounded(samples / times["median"]) if samples else None,
        "memory": memory.of(call),
        "graphs": None if eager else compilation.graphs,
        "breaks": None if eager else compilation.break_count,
        "break_ids": compilation.break_ids,
        "violations": len(compilation.violations) if backend in _CHECKS_LIMITS else None,
        "numerics": None if eager else _numerics(subject, measurement),
    }


def _call(subject: ModelUnderTest, backend: str) -> Callable[[], Any]:
    """A call of the model as it is for `eager`; otherwise of what torch.compile makes of it at its first call."""
    model = subject.model if backend == "eager" else torch.compile(subject.model, backend=_backend(backend))
    args, kwargs = subject.fresh_inputs()
    return lambda: model(*args, **kwargs)


def _backend(name: str) -> str | Backend:
    """As torch.compile takes it, whether or not this project is installed."""
    return find_backend(name) if name in _CHECKS_LIMITS else name


def _numerics(subject: ModelUnderTest, measurement: Measurement) -> dict[str, Any] | None:
    """What KernelDiff says of this backend against eager; None if there is nothing to compare."""
    # The catalogue's models draw no random numbers, and another setting would mean another compilation.
    config = ComparisonConfig(repeats=1, fallback_random=measurement.model not in MODELS)
    try:
        report = diff_model(subject, config, test_backend=_backend(measurement.backend), find_first_op=False)
    except InvalidInput:  # it returns no tensor
        return None
    errors = [leaf.comparison.max_absolute_error for leaf in report.leaves if leaf.comparison is not None]
    return {
        "passed": report.passed,
        "verdict": report.verdict(),
        "max_absolute_error": plain_number(max(errors)) if errors else None,
    }


def _samples(subject: ModelUnderTest) -> int | None:
    """The first dimension of the first input: what is called a batch."""
    first = next((each for each in tensors_in((subject.args, dict(subject.kwargs))) if each.dim()), None)
    return None if first is None else first.shape[0]
