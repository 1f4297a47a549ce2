"""Find the op of a model's graphs that a backend computes wrongly.

An op is wrong if eager, given the very operands that the backend computed, has another result. To see both, the graph
is compiled with further outputs. All ops are watched at once where that works. Two things can go wrong, and neither is
evidence against an op: the backend may fail on such a graph, and the difference may vanish (a value that is returned is
not fused away). Then fewer ops are watched at a time; then the same is tried with the functional graph of aten ops. An
op is named only if it is wrong when nothing but it is watched, while the same outputs differ in the same way. What
stays open is said. Where outputs are right and gradients are not, the same is done with the backward of each op, and
then with the gradients of values: each has to be the sum of those that its uses have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch
from torch.fx import GraphModule

from repro_runner.diff.backward_search import search_backward
from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.difference import FirstDifference
from repro_runner.diff.execution import CompiledGraph
from repro_runner.diff.forward_search import ForwardSearch
from repro_runner.diff.graph_ops import copy_names_of_inputs, name_inputs
from repro_runner.diff.graph_runs import GraphInputs
from repro_runner.diff.judging import GraphUnderTest, NotShown
from repro_runner.graphs.by_name import Backend
from repro_runner.graphs.traced import TracedGraph, compile_eagerly
from repro_runner.model_under_test.model import describe_error


def search_graph(
    graph: GraphModule, compiled: CompiledGraph, inputs: GraphInputs, backend: Backend, config: ComparisonConfig
) -> FirstDifference | None:
    """What is wrong with a graph that a backend compiled; None if it equals eager."""
    under_test = GraphUnderTest(graph, inputs, backend, config)
    symptom = under_test.examine(compiled)
    if not symptom:
        drawn = FirstDifference(kind="draws", compiled=0, ops=under_test.ops.count)
        return drawn if under_test.moves_generators else None
    if under_test.varies(compiled):
        first = FirstDifference(kind="varies", compiled=0)
    elif written := under_test.written_by_mistake():
        first = FirstDifference(kind="writes", compiled=0, difference=written)
    else:
        first = _search(under_test, symptom)
    if first.kind == "unknown":
        first = _search_functional(under_test, first)
    return replace(first, compiled=under_test.compiled, ops=first.ops or under_test.ops.count)


def _search(graph: GraphUnderTest, symptom: Iterable[str]) -> FirstDifference:
    forward = [name for name in symptom if name not in graph.expected.names_of_gradients]
    if forward:
        return ForwardSearch(graph, forward).find()
    found = search_backward(graph, symptom)
    lost = [
        f"output {at} requires no grad as it is returned" for at in graph.expected.weights.keys() - graph.found.weights
    ]
    return replace(found, open=(*found.open, *lost)) if found.kind == "unknown" else found


def _search_functional(graph: GraphUnderTest, so_far: FirstDifference) -> FirstDifference:
    """The same with the graph in aten ops, which write to nothing."""
    try:
        module, written = _functional(graph)
        lowered = GraphUnderTest(module, graph.inputs, graph.backend, graph.config, weighted=graph.outputs)
        symptom = lowered.examine(graph.backend(deepcopy(module), graph.inputs.fresh()[0]))
        run = lowered.found.with_writes(graph.outputs, written)
    except NotShown as why:
        return replace(so_far, open=(*so_far.open, f"the graph of aten ops can't be tried: {why}"))
    except Exception as error:  # noqa: BLE001 - tracing and the backend may raise anything: then this way is closed
        return replace(so_far, open=(*so_far.open, f"the graph of aten ops can't be tried: {describe_error(error)}"))
    graph.compiled += 1
    if not symptom or graph.has_another_difference(run):
        how = "differs in another way" if symptom else "does not differ"
        return replace(so_far, open=(*so_far.open, f"the same graph in aten ops {how}"))
    found = _search(lowered, symptom)
    graph.compiled += lowered.compiled
    if found.op is None and found.kind not in ("sum", "copies"):
        return replace(so_far, open=(*so_far.open, *(f"in aten ops: {each}" for each in found.open)))
    return replace(found, aten=True, ops=lowered.ops.count)


def _functional(graph: GraphUnderTest) -> tuple[GraphModule, list[int]]:
    """(what AOTAutograd makes of a graph; to which inputs that writes in the end). These values are returned instead,
    after the outputs."""
    found: list[TracedGraph] = []
    with torch.no_grad():
        compile_eagerly(deepcopy(graph.ops.graph), graph.inputs.plain(), found.append)
    module = found[0].forward
    output = module.graph.output_node()
    inputs, written = module.graph.find_nodes(op="placeholder"), []
    for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default):
        output.args = ((*output.args[0], node.args[1]),)  # type: ignore[misc]
        written.append(inputs.index(node.args[0]))
        module.graph.erase_node(node)
    module.recompile()
    if len(inputs) != len(graph.inputs):
        raise NotShown("it takes other inputs, since some of these share memory")
    copy_names_of_inputs(graph.ops.graph, module)
    return module, written


class WatchedGraphs:
    """A backend that compiles as another does, and searches the first call of a graph that differs.

    The search runs inside that call, so that the autocast, the grad mode and whatever else the user has set is set.
    """

    def __init__(self, backend: Backend, config: ComparisonConfig) -> None:
        self._backend, self._config = backend, config
        self._graphs = 0
        self._found: FirstDifference | None = None
        self._moved: FirstDifference | None = None
        """The first graph that draws other random numbers than in eager, while what it returns is right."""

    @property
    def first_difference(self) -> FirstDifference:
        return self._found or self._moved or FirstDifference(kind="outside", compiled=self._graphs)

    def __call__(self, graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
        number, original = self._graphs, deepcopy(graph)
        name_inputs(original)
        self._graphs += 1
        compiled = self._backend(graph, inputs, **keywords)

        def call(*arguments: Any) -> Any:
            if self._found is None:
                found = self._search(number, original, compiled, arguments)
                if found is not None and found.kind == "draws":
                    self._moved = self._moved or found
                else:
                    self._found = found
            return compiled(*arguments)

        return call

    def _search(
        self, number: int, original: GraphModule, compiled: CompiledGraph, arguments: Sequence[Any]
    ) -> FirstDifference | None:
        try:
            inputs = GraphInputs(arguments)
            try:
                found = search_graph(original, compiled, inputs, self._backend, self._config)
            finally:
                inputs.restore_random()
        except Exception as error:  # noqa: BLE001 - what was compared already is not lost, whatever went wrong here
            found = FirstDifference(kind="unknown", compiled=0, open=(f"the search failed: {describe_error(error)}",))
        return found and replace(found, graph=number, compiled=found.compiled + number + 1)
