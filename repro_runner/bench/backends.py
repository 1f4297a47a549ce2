"""A model under one of the benchmark's backends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo.utils import counters

from repro_runner.backends import collect_violations, mock_backend
from repro_runner.capture import CapturedBreak, capture_breaks
from repro_runner.constraints import Violation

CHECKS_LIMITS = frozenset({"mock", "aot"})


def compiled(model: Callable[..., Any], backend: str) -> Callable[..., Any]:
    """The model itself for `eager`; otherwise what torch.compile makes of it at its first call."""
    if backend == "eager":
        return model
    made: Callable[..., Any] = torch.compile(model, backend=backend_of(backend))
    return made


def backend_of(name: str) -> str | Callable[..., Any]:
    """As torch.compile takes it, whether or not this project is installed."""
    if name == "mock":
        return mock_backend
    if name == "aot":
        # Here, since it needs parts of Inductor that a release may lack: only the rows of this backend fail for it.
        from repro_runner.aot_backend.mock import aot_mock_backend

        return aot_mock_backend
    return name


@dataclass(slots=True)
class Compilation:
    """What a compiler did, known once `watched` ends."""

    graphs: int = 0
    breaks: list[CapturedBreak] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)

    @property
    def break_ids(self) -> list[str]:
        return sorted({one.gb_id for one in self.breaks})

    @property
    def break_count(self) -> int:
        return sum(one.count for one in self.breaks)


@contextmanager
def watched() -> Iterator[Compilation]:
    """Count graphs, breaks that happened and violations of whatever is compiled meanwhile."""
    found = Compilation()
    before = counters["stats"]["unique_graphs"]
    with capture_breaks() as breaks, collect_violations() as violations:
        yield found
    found.graphs = counters["stats"]["unique_graphs"] - before
    found.breaks = [one for one in breaks if one.happened]
    found.violations = list(violations)
