"""The mock accelerator with real kernels: checks a graph against declared limits, then lowers it with Inductor.

    torch.compile(model, backend=aot_mock_backend)
    torch.compile(model, backend=aot_mock_backend(strict=False, constraints=[ShapeConstraint(alignment=16)]))
    torch.compile(model, backend="aot_mock", options={"strict": False})

Three graphs are checked, each on its own, before they are lowered: Dynamo's (pre-aot), and the forward and the backward
that AOTAutograd makes of it with Inductor's decompositions; the backward when it runs first or, with `check_backward`,
with the others. A pre-aot finding that a graph checked with it repeats (same rule, line, dtype and shape) is left out.

`options`, arguments and the environment are those of the mock backend (repro_runner.backends.mock). The run folder also
gets Inductor's IR and the C++ or Triton code that it generates, for the forward and, once it has run, the backward.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from torch.fx import GraphModule

from repro_runner.backends.graph_check import GraphCheck
from repro_runner.backends.settings import OPTIONS, arguments_given, read_settings
from repro_runner.constraints import Constraint
from repro_runner.graphs.traced import Backend, CompiledGraph


@overload
def aot_mock_backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph: ...
@overload
def aot_mock_backend(
    *,
    strict: bool | None = None,
    constraints: Iterable[Constraint] | None = None,
    check_backward: bool | None = None,
) -> Backend: ...
def aot_mock_backend(
    graph: GraphModule | None = None,
    inputs: Sequence[Any] = (),
    *,
    strict: bool | None = None,
    constraints: Iterable[Constraint] | None = None,
    check_backward: bool | None = None,
    **keywords: Any,
) -> CompiledGraph | Backend:
    """The backend "aot_mock". Called with settings instead of a graph, it returns a backend with these settings."""
    if graph is not None:
        return _compile(graph, inputs, keywords.get("options") or {})
    if keywords:
        raise TypeError(f"no such argument: {', '.join(sorted(keywords))}; there are {OPTIONS}")
    arguments = arguments_given(strict=strict, constraints=constraints, check_backward=check_backward)

    def aot_mock_backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
        return _compile(graph, inputs, {**arguments, **(keywords.get("options") or {})})

    return aot_mock_backend


def _compile(graph: GraphModule, inputs: Sequence[Any], arguments: Mapping[str, Any]) -> CompiledGraph:
    from repro_runner.aot_backend.inductor import compile_with_inductor  # takes seconds: not before it is needed

    settings = read_settings(arguments)
    check = GraphCheck(settings, backend="aot_mock", decompositions="inductor", also_pre_aot=True)
    return compile_with_inductor(graph, inputs, check.before_forward, check.before_backward)
