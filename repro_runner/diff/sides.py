"""The two sides that are compared: `eager` for no compiler at all, or a backend by its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule

from repro_runner.backends.by_name import Backend, find_backend

CompiledGraph = Callable[..., Any]

EAGER = "eager"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two that are compared; without a backend, the model runs as it is."""

    name: str
    backend: Backend | None

    def compiler(self, seen: list[GraphModule]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """From a model to what this side runs; each graph that its backend is given is added to `seen`."""
        backend = self.backend
        if backend is None:
            # What the model itself compiles, a part of it or all, runs without a compiler, too.
            return lambda model: torch.compiler.set_stance("force_eager")(model)

        def watched(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
            seen.append(graph)
            return backend(graph, inputs, **keywords)

        return lambda model: torch.compile(model, backend=watched)


def find_side(backend: str | Backend) -> Side:
    """By name or as a callable; InvalidInput suggests near misses."""
    if not isinstance(backend, str):
        return Side(name=getattr(backend, "__name__", type(backend).__name__), backend=backend)
    if backend == EAGER:
        return Side(name=EAGER, backend=None)
    return Side(name=backend, backend=find_backend(backend))
