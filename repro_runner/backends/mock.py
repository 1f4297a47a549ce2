"""A stand-in accelerator: checks a graph against declared limits before lowering it, then runs it eagerly.

    torch.compile(model, backend="mock")
    torch.compile(model, backend="mock", options={"strict": False, "constraints": [DtypeConstraint([torch.bfloat16])]})
    torch.compile(model, backend=make_mock_backend(constraints=[ShapeConstraint(alignment=16)]))

The graphs are AOTAutograd's: aten ops, forward and backward, both checked when the forward is compiled, so that one
error lists everything. (A program that never runs a backward has none to check under `torch.no_grad()`.)

`options` win over the arguments of `make_mock_backend`, and these over the environment, read at each compilation:
MOCK_STRICT (1: raise, 0: warn and go on), MOCK_ALIGNMENT (1), MOCK_MAX_MEMORY (17179869184 bytes per tensor),
MOCK_MAX_PEAK_MEMORY (bytes that a forward or a backward needs at once; unset: any).
`constraints` given either way replace those that the environment sets.

Each process leaves a run folder, which `graphbreak artifacts list` shows: its graphs, and what was found in them.
GRAPHBREAK_ARTIFACTS=0 turns that off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from torch.fx import GraphModule

from repro_runner.backends.graph_dumps import keep_graph
from repro_runner.backends.refusals import report_violations
from repro_runner.backends.settings import arguments_given, read_settings
from repro_runner.constraints import Constraint, find_violations
from repro_runner.graphs.traced import TracedGraph, compile_eagerly

CompiledGraph = Callable[..., Any]
Backend = Callable[..., CompiledGraph]


def mock_backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
    """The backend "mock", configured by `options=` and the environment."""
    return _compile(graph, inputs, keywords.get("options") or {})


def make_mock_backend(*, strict: bool | None = None, constraints: Iterable[Constraint] | None = None) -> Backend:
    """A mock backend of one's own; what is None comes from the environment."""
    arguments = arguments_given(strict, constraints)

    def mock_backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
        return _compile(graph, inputs, {**arguments, **(keywords.get("options") or {})})

    return mock_backend


def _compile(graph: GraphModule, inputs: Sequence[Any], arguments: Mapping[str, Any]) -> CompiledGraph:
    settings = read_settings(arguments)

    def check(traced: TracedGraph) -> None:
        found = find_violations(settings.constraints, traced.forward, traced.backward)
        keep_graph(traced, found, backend="mock", asked=settings.artifacts)
        report_violations(found, strict=settings.strict)

    return compile_eagerly(graph, inputs, check)
