"""Measure one model under one backend, in a process of its own. Needs torch, the standard library, and transformers for
the models whose shapes come from there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from registry.errors import InvalidInput, Problem
from repro_runner.bench.break_cost import measure_break_cost
from repro_runner.bench.catalogue import MODELS, Measurement
from repro_runner.bench.measuring import PeakMemory, clock_of, first_call, latency, rounded, watch_compilation
from repro_runner.bench.networks import count_parameters, make_subject
from repro_runner.bench.roofline import measure_roofline
from repro_runner.diff import ComparisonConfig, diff_model
from repro_runner.diff.config import plain_number
from repro_runner.graphs.by_name import Backend, find_backend
from repro_runner.model_under_test import ModelUnderTest, load_model
from repro_runner.model_under_test.model import describe_backend_error
from repro_runner.process.isolated import doing
from repro_runner.values import tensors_in

_CHECKS_LIMITS = frozenset({"mock", "aot"})


def measure(arguments: dict[str, Any]) -> dict[str, Any]:
    """The task of a child: the measurement, or why there is none."""
    measurement = Measurement(**arguments)
    try:
        return measure_row(measurement) if measurement.model else {"curves": measure_break_cost(measurement)}
    except InvalidInput:
        raise
    except Exception as error:  # noqa: BLE001 - a model and a backend may raise anything, and it costs their row alone
        if isinstance(error, ModuleNotFoundError) and error.name == "transformers":
            return {"failed": "transformers is not installed; `pip install graph-break-registry[toolkit]`"}
        return {"failed": describe_backend_error(error)}


def measure_row(measurement: Measurement) -> dict[str, Any]:
    """Everything that one process can measure for a row; with `only_compile`, only the time of the first call."""
    subject = (
        make_subject(measurement.model, measurement.size, measurement.device)
        if measurement.model in MODELS
        else load_model(measurement.model, device=measurement.device)
    )
    doing(f"running the model with {measurement.backend}")
    with torch.set_grad_enabled(measurement.gradients):
        return _time_first_call(subject, measurement) if measurement.only_compile else _full_row(subject, measurement)


def _time_first_call(subject: ModelUnderTest, measurement: Measurement) -> dict[str, Any]:
    return {"first_call": first_call(_call(subject, measurement), measurement.device)}


def _full_row(subject: ModelUnderTest, measurement: Measurement) -> dict[str, Any]:
    device, backend = measurement.device, measurement.backend
    memory = PeakMemory(device)
    call = _call(subject, measurement)
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
        "gradients": measurement.gradients,
        "numerics": None if eager else _numerics(subject, measurement),
        "roofline": measure_roofline(
            subject, _call(subject, replace(measurement, backend="eager")), times["median"], device
        ),
    }


def _call(subject: ModelUnderTest, measurement: Measurement) -> Callable[[], Any]:
    """A call of the model as it is for `eager`; otherwise of what torch.compile makes of it at its first call."""
    model = (
        subject.model if measurement.backend == "eager" else torch.compile(subject.model, backend=_backend(measurement))
    )
    args, kwargs = subject.fresh_inputs()
    if not measurement.gradients:
        return lambda: model(*args, **kwargs)

    def forward_and_backward() -> Any:
        returned = model(*args, **kwargs)
        sources = [each for each in tensors_in(returned) if each.requires_grad]
        if not sources:
            raise InvalidInput([Problem(subject.name, "no output requires grad; leave out --gradients")])
        torch.autograd.backward(sources, [torch.ones_like(each) for each in sources])
        for leaf in leaves:
            leaf.grad = None  # another call would add to it
        return returned

    parameters = subject.model.parameters() if isinstance(subject.model, torch.nn.Module) else ()
    leaves = [*parameters, *tensors_in((args, kwargs))]
    return forward_and_backward


def _backend(measurement: Measurement) -> str | Backend:
    """As torch.compile takes it, whether or not this project is installed."""
    name = measurement.backend
    return find_backend(name, measurement.decompositions) if name in _CHECKS_LIMITS or ":" in name else name


def _numerics(subject: ModelUnderTest, measurement: Measurement) -> dict[str, Any] | None:
    """What KernelDiff says of this backend against eager; None if there is nothing to compare."""
    # The catalogue's models draw no random numbers, and another setting would mean another compilation.
    config = ComparisonConfig(
        repeats=1, fallback_random=measurement.model not in MODELS, gradients=measurement.gradients
    )
    try:
        report = diff_model(
            subject,
            config,
            test_backend=measurement.backend,
            decompositions=measurement.decompositions,
            find_first_op=False,
        )
    except InvalidInput:  # it returns no tensor
        return None
    return {
        "passed": report.passed,
        "verdict": report.verdict(),
        "max_absolute_error": plain_number(report.max_absolute_error),
    }


def _samples(subject: ModelUnderTest) -> int | None:
    """The first dimension of the first input: what is called a batch."""
    first = next((each for each in tensors_in((subject.args, dict(subject.kwargs))) if each.dim()), None)
    return None if first is None else first.shape[0]
