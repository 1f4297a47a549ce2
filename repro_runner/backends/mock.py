"""A stand-in accelerator: checks a graph against declared limits before lowering it, then runs it eagerly.

    torch.compile(model, backend="mock")
    torch.compile(model, backend="mock", options={"strict": False, "constraints": [DtypeConstraint([torch.bfloat16])]})
    torch.compile(model, backend=make_mock_backend(constraints=[ShapeConstraint(alignment=16)]))

The graphs are AOTAutograd's: aten ops, forward and backward. The forward is checked when it is compiled, the backward
when it runs first: then `loss.backward()` raises what is wrong with it. `check_backward` checks it with the forward, so
that one error lists everything.

`options` win over the arguments of `make_mock_backend`, and these over the environment, read at each compilation:

    MOCK_STRICT           1: raise; 0: warn and go on
    MOCK_CHECK_BACKWARD   1: check the backward with the forward, whether or not it ever runs
    MOCK_ALIGNMENT        every dimension is a multiple of so many elements; a dimension of size 1 is spared
    MOCK_ALIGNMENT_DIMS   only these dimensions: -1 is the last. MOCK_ALIGNMENT_SPARE_ONES=0 spares none,
                          MOCK_ALIGNMENT_UNIT=bytes counts bytes, those of the last dimension
    MOCK_DTYPES           the dtypes it has: float32,bfloat16
    MOCK_LAYOUT           the layouts it has: contiguous,channels_last
    MOCK_DENY_OPS         the ops it lacks: sort,topk
    MOCK_MAX_MEMORY       bytes of the largest tensor: 4096, 2GiB; 16GiB if it is not set
    MOCK_MAX_PEAK_MEMORY  bytes that a forward or a backward needs at once

`constraints` given either way replace those that the environment sets.

Each process leaves a run folder, which `graphbreak artifacts list` shows: its graphs, and what was found in them. A
graph that is refused (not with MOCK_STRICT=0) also gets a script, `repro.py`, that fails in the same way and needs only
torch: of a small graph the few operations that it takes, found in a few seconds, of others the whole. The last line of
the error names it. GRAPHBREAK_ARTIFACTS=0 turns all of that off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch.fx import GraphModule

from repro_runner.backends.graph_check import GraphCheck
from repro_runner.backends.settings import arguments_given, read_settings
from repro_runner.constraints import Constraint
from repro_runner.graphs.traced import Backend, CompiledGraph, TracedGraph, compile_eagerly


def mock_backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
    """The backend "mock", configured by `options=` and the environment."""
    return _compile(graph, inputs, keywords.get("options") or {})


def make_mock_backend(
    *,
    strict: bool | None = None,
    constraints: Iterable[Constraint] | None = None,
    check_backward: bool | None = None,
) -> Backend:
    """Make a mock backend. What is None comes from the environment."""
    arguments = arguments_given(strict=strict, constraints=constraints, check_backward=check_backward)

    def mock_backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
        return _compile(graph, inputs, {**arguments, **(keywords.get("options") or {})})

    return mock_backend


def _compile(graph: GraphModule, inputs: Sequence[Any], arguments: Mapping[str, Any]) -> CompiledGraph:
    check = GraphCheck(read_settings(arguments), backend="mock")

    def traced(whole: TracedGraph) -> None:
        check.before_forward(whole)

    return compile_eagerly(graph, inputs, traced, before_backward=check.before_backward)
