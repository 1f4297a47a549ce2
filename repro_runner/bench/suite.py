"""Every model under every backend, each in processes of its own, so that none affects the next. No torch here."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput
from repro_runner.bench.catalogue import MODELS, Measurement
from repro_runner.bench.document import Row
from repro_runner.process import Limits
from repro_runner.process.isolated import ChildFailed, Isolation

_KEEPS_NO_CACHE = frozenset({"eager", "mock"})


def plan_rows(models: Sequence[str], backends: Sequence[str], like: Measurement) -> list[Measurement]:
    """A measurement per row, model by model; all else is as in `like`."""
    return [replace(like, model=model, backend=backend) for model in models for backend in backends]


def measure_rows(planned: Sequence[Measurement], limits: Limits) -> Iterator[Row]:
    """Each row as soon as it is known; one that failed says why."""
    for measurement in planned:
        with tempfile.TemporaryDirectory(prefix="graphbreak-bench-", ignore_cleanup_errors=True) as home:
            yield _row(measurement, Path(home), limits)


def measure_in_child(
    measurement: Measurement, limits: Limits, environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What a fresh process measured; `{"failed": why}` if it did not."""
    with Isolation(isolate="process", environment=environment) as children:
        try:
            return dict(children.run("repro_runner.bench.row:measure", asdict(measurement), limits))
        except (ChildFailed, InvalidInput) as error:
            return {"failed": str(error)}


def _row(measurement: Measurement, home: Path, limits: Limits) -> Row:
    """Two processes with one cache: empty for the first, filled for the second."""
    environment = _row_environment(home)
    row = _named(measurement)
    found = measure_in_child(measurement, limits, environment)
    if "failed" in found:
        return {**row, "status": "failed", "cause": found["failed"]}
    first = found.pop("first_call")
    compile_s: dict[str, float | None] = {"cold": None if measurement.backend == "eager" else first, "warm": None}
    if measurement.backend not in _KEEPS_NO_CACHE:
        second = replace(measurement, only_compile=True)
        warm = measure_in_child(second, limits, environment)
        if "failed" in warm:
            return {**row, "status": "failed", "cause": f"with a filled cache: {warm['failed']}"}
        compile_s["warm"] = warm["first_call"]
    return {**row, "status": "measured", **found, "compile_s": compile_s}  # type: ignore[typeddict-item]


def _named(measurement: Measurement) -> Row:
    name = measurement.model
    shape = MODELS[name].sizes[measurement.size] if name in MODELS else None
    return {
        "model": name,
        "title": MODELS[name].title if shape else name,
        "size": measurement.size if shape else None,
        "sample": shape.sample_is if shape else None,
        "backend": measurement.backend,
    }


def _row_environment(home: Path) -> dict[str, str]:
    """Caches that only this row fills; nothing fetched; violations are counted, and stop nothing."""
    return {
        "TORCHINDUCTOR_CACHE_DIR": str(home / "cache"),
        "TRITON_CACHE_DIR": str(home / "cache" / "triton"),
        "GRAPHBREAK_ARTIFACTS": "0",
        "HF_HUB_OFFLINE": "1",
        "MOCK_STRICT": "0",
    }
