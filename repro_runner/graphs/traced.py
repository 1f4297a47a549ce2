"""Trace a model without lowering it: as Dynamo hands it over, and forward and backward after AOTAutograd."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule

from repro_runner.capture import CapturedBreak, capture_breaks
from repro_runner.constraints.graph_inputs import note_input_names
from repro_runner.constraints.peak_memory import note_held_inputs
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.torch_seams import aot_autograd, default_partition, make_boxed_func, reset

CompiledGraph = Callable[..., Any]
Backend = Callable[..., CompiledGraph]
Decompositions = Mapping[Any, Callable[..., Any]]
"""Op of torch -> the function that it is replaced by."""
DECOMPOSITIONS = ("none", "core-aten", "inductor")


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedGraph:
    """One graph between two breaks. `meta["val"]` of the nodes of `forward` and `backward` holds fake tensors; nodes of
    `pre_aot`, which calls torch's own functions, have them in `meta["example_value"]`."""

    pre_aot: GraphModule
    forward: GraphModule
    backward: GraphModule | None
    """None where nothing requires grad."""

    def __post_init__(self) -> None:
        note_input_names(self.pre_aot, self.forward, self.backward)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What became of a model: its graphs in the order in which they ran first, and the breaks between them."""

    graphs: tuple[TracedGraph, ...]
    breaks: tuple[CapturedBreak, ...]
    output: Any


def trace_model(
    model: ModelUnderTest, *, decompositions: Decompositions | None = None, dynamic: bool | None = None
) -> Trace:
    """Compile a copy of the model and run it once, op by op. Dynamo's earlier compilations are dropped."""
    graphs: list[TracedGraph] = []
    reset()
    backend = tracing_backend(graphs, decompositions=decompositions)
    with capture_breaks() as breaks:
        output = model.run(torch.compile(model.fresh_model(), backend=backend, dynamic=dynamic))
    return Trace(graphs=tuple(graphs), breaks=tuple(breaks), output=output)


def tracing_backend(found: list[TracedGraph], *, decompositions: Decompositions | None = None) -> Backend:
    """A backend that adds each graph to `found`, and runs it eagerly."""

    def backend(graph: GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        return compile_eagerly(graph, inputs, found.append, decompositions=decompositions)

    return backend


def compile_eagerly(
    graph: GraphModule,
    inputs: Sequence[Any],
    traced: Callable[[TracedGraph], None],
    *,
    before_backward: Callable[[], None] = lambda: None,
    decompositions: Decompositions | None = None,
) -> Callable[..., Any]:
    """Take one graph through AOTAutograd, call `traced` with the result before anything runs, and run it op by op.
    `before_backward` is called before the backward runs first."""
    cut = RecordingPartitioner(default_partition)

    def lower(forward: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        traced(TracedGraph(pre_aot=graph, forward=forward, backward=cut.backward))
        return run_eagerly(forward, inputs)

    compiled: Callable[..., Any] = aot_autograd(
        fw_compiler=lower,
        bw_compiler=lambda backward, given: before_first_run(run_eagerly(backward, given), before_backward),
        partition_fn=cut,
        decompositions=dict(decompositions or {}),
        keep_inference_input_mutations=True,
    )(graph, inputs)
    return compiled


class RecordingPartitioner:
    """A partitioner that remembers the backward: both halves can be looked at before either is lowered."""

    def __init__(self, partition: Callable[..., tuple[GraphModule, GraphModule]]) -> None:
        self._partition = partition
        self.backward: GraphModule | None = None

    def __call__(self, joint: GraphModule, inputs: Any, **keywords: Any) -> tuple[GraphModule, GraphModule]:
        # Regions inside the graph are cut first, each with a call of its own: the last is that of the whole.
        forward, self.backward = self._partition(joint, inputs, **keywords)
        note_held_inputs(forward, self.backward)
        return forward, self.backward


def run_eagerly(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
    """The graph as a compiler's result: called with one list, which it may empty."""
    boxed: Callable[..., Any] = make_boxed_func(graph.forward)
    return boxed


def before_first_run(compiled: Callable[..., Any], action: Callable[[], None]) -> Callable[..., Any]:
    """A compiler's result that begins with an action when it runs first; if that raises, at the next run again.

    AOTAutograd has a backward compiled when it runs first or, with dynamic shapes, together with the forward. Then it
    suppresses what the compiler raises, since that backward may never run.
    """
    done = False

    def run(arguments: list[Any]) -> Any:
        nonlocal done
        if not done:
            action()
            done = True
        return compiled(arguments)

    run._boxed_call = True  # type: ignore[attr-defined] # as make_boxed_func marks it
    return run


def decomposition_table(name: str) -> Decompositions:
    """The table of ops that are replaced by other ops before a backend sees a graph.

    `none`: as AOTAutograd leaves it; `core-aten`: torch.export's; `inductor`: those that Inductor asks for. ValueError
    for any other name.
    """
    if name == "none":
        return {}
    if name == "core-aten":
        table: Decompositions = torch.export.default_decompositions().materialize()
        return table
    if name == "inductor":
        from repro_runner.torch_seams import select_decomp_table  # takes seconds: not before it is asked for

        return dict(select_decomp_table())
    raise ValueError(f"{name}: no such decomposition table; there are {', '.join(DECOMPOSITIONS)}")
