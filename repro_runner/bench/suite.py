"""Every model under every backend, each in processes of its own: what one does, the next never sees. No torch here."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from repro_runner.bench.catalogue import MODELS
from repro_runner.bench.children import run_child
from repro_runner.bench.job import Job

Row = dict[str, Any]

_KEEPS_A_CACHE = frozenset({"inductor", "aot"})


def plan_rows(
    models: Sequence[str], backends: Sequence[str], *, size: str, device: str, warmup: int, runs: int
) -> list[Job]:
    """A job per row, model by model."""
    return [
        Job(model=model, backend=backend, size=size, device=device, warmup=warmup, runs=runs)
        for model in models
        for backend in backends
    ]


def measure_rows(jobs: Sequence[Job], *, timeout: float) -> Iterator[Row]:
    """Each row as soon as it is known; one that failed says why."""
    for job in jobs:
        with tempfile.TemporaryDirectory(prefix="graphbreak-bench-", ignore_cleanup_errors=True) as home:
            yield _row(job, Path(home), timeout)


def measure_curves(job: Job, *, timeout: float) -> dict[str, Any]:
    """The block with breaks: all its variants in one process, so that they share the machine's moods."""
    with tempfile.TemporaryDirectory(prefix="graphbreak-bench-", ignore_cleanup_errors=True) as home:
        return run_child(job, Path(home), timeout=timeout, environment={})  # what is compiled before is no loss here


def _row(job: Job, home: Path, timeout: float) -> Row:
    """Two processes with one cache: empty for the first, filled for the second."""
    surroundings = _surroundings(home)
    found = run_child(job, home, timeout=timeout, environment=surroundings)
    if "failed" in found:
        return {**_subject(job), "status": "failed", "cause": found["failed"]}
    first = found.pop("first_call")
    compile_s: dict[str, float | None] = {"cold": None if job.backend == "eager" else first, "warm": None}
    if job.backend in _KEEPS_A_CACHE:
        warm = run_child(replace(job, only_compile=True), home, timeout=timeout, environment=surroundings)
        if "failed" in warm:
            return {**_subject(job), "status": "failed", "cause": f"with a filled cache: {warm['failed']}"}
        compile_s["warm"] = warm["first_call"]
    return {**_subject(job), "status": "measured", **found, "compile_s": compile_s}


def _subject(job: Job) -> Row:
    shape = MODELS[job.model].sizes[job.size] if job.model in MODELS else None
    return {
        "model": job.model,
        "title": MODELS[job.model].title if shape else job.model,
        "size": job.size if shape else None,
        "sample": shape.sample_is if shape else None,
        "backend": job.backend,
    }


def _surroundings(home: Path) -> dict[str, str]:
    """Caches that nobody else fills; nothing fetched; limits that are told, not enforced."""
    return {
        "TORCHINDUCTOR_CACHE_DIR": str(home / "cache"),
        "TRITON_CACHE_DIR": str(home / "cache" / "triton"),
        "GRAPHBREAK_ARTIFACTS": "0",
        "HF_HUB_OFFLINE": "1",
        "MOCK_STRICT": "0",
    }
