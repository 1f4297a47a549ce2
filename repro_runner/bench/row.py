"""Measure one model under one backend, in a process of its own. Needs torch, the standard library, and transformers for
the models whose shapes come from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from registry.errors import InvalidInput
from repro_runner.bench.backends import CHECKS_LIMITS, backend_of, compiled, watched
from repro_runner.bench.catalogue import MODELS
from repro_runner.bench.job import Job
from repro_runner.bench.latency import clock_of, first_call, latency
from repro_runner.bench.models import count_parameters, make_subject
from repro_runner.bench.peak_memory import PeakMemory
from repro_runner.bench.spread import rounded
from repro_runner.diff import ComparisonConfig, diff_model
from repro_runner.diff.config import plain_number
from repro_runner.model_under_test import ModelUnderTest, load_model, tensors_in


def measure_row(job: Job) -> dict[str, Any]:
    """Everything about the row that one process can tell; only the time of the first call if the job says so."""
    subject = (
        make_subject(job.model, job.size, job.device)
        if job.model in MODELS
        else load_model(job.model, device=job.device)
    )
    with torch.no_grad():
        return _time_first_call(subject, job) if job.only_compile else _measure(subject, job)


def _time_first_call(subject: ModelUnderTest, job: Job) -> dict[str, Any]:
    call = _call(subject, compiled(subject.model, job.backend))
    return {"first_call": first_call(call, job.device)}


def _measure(subject: ModelUnderTest, job: Job) -> dict[str, Any]:
    memory = PeakMemory(job.device)
    call = _call(subject, compiled(subject.model, job.backend))
    with watched() as compilation:
        first = first_call(call, job.device)
    found = latency(call, job.device, warmup=job.warmup, runs=job.runs)
    samples = _samples(subject)
    eager = job.backend == "eager"
    return {
        "parameters": count_parameters(subject.model),
        "samples": samples,
        "threads": torch.get_num_threads(),
        "clock": clock_of(job.device),
        "first_call": first,
        "latency": found,
        "throughput": rounded(samples / found["median"]) if samples else None,
        "memory": memory.of(call),
        "graphs": None if eager else compilation.graphs,
        "breaks": None if eager else compilation.break_count,
        "break_ids": compilation.break_ids,
        "violations": len(compilation.violations) if job.backend in CHECKS_LIMITS else None,
        "numerics": None if eager else _numerics(subject, job),
    }


def _call(subject: ModelUnderTest, model: Callable[..., Any]) -> Callable[[], Any]:
    args, kwargs = subject.fresh_inputs()
    return lambda: model(*args, **kwargs)


def _numerics(subject: ModelUnderTest, job: Job) -> dict[str, Any] | None:
    """What KernelDiff says of this backend against eager; None if there is nothing to compare."""
    # The catalogue's models draw no random numbers, and another setting would mean another compilation.
    config = ComparisonConfig(repeats=1, fallback_random=job.model not in MODELS)
    try:
        report = diff_model(subject, config, test_backend=backend_of(job.backend), find_first_op=False)
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
