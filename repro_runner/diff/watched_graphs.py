"""Run a model once more and compare each graph, whenever it is called, with the same graph run eagerly."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from torch.fx import GraphModule

from repro_runner.backends.by_name import Backend
from repro_runner.diff.comparison import compare_leaves
from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.first_op import FirstDifference, Search
from repro_runner.diff.graph_run import GraphInputs, run_graph
from repro_runner.diff.sides import CompiledGraph
from repro_runner.model_under_test.model import describe_error


class WatchedGraphs:
    """A backend that compiles as another does, and finds the first op that differs in the first call that does.

    The search runs inside that call, so that the autocast, the grad mode and whatever else the user has set is set.
    """

    def __init__(self, backend: Backend, config: ComparisonConfig) -> None:
        self._backend, self._config = backend, config
        self._graphs = 0
        self._found: FirstDifference | None = None

    @property
    def found(self) -> FirstDifference:
        return self._found or FirstDifference(kind="outside", compiled=self._graphs)

    def __call__(self, graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
        number, original = self._graphs, deepcopy(graph)
        self._graphs += 1
        compiled = self._backend(graph, inputs, **keywords)

        def call(*arguments: Any) -> Any:
            if self._found is None:
                self._found = self._search(number, original, compiled, arguments)
            return compiled(*arguments)

        return call

    def _search(
        self, number: int, original: GraphModule, compiled: CompiledGraph, arguments: Sequence[Any]
    ) -> FirstDifference | None:
        try:
            inputs = GraphInputs(arguments)
            try:
                if not self._differs(original, compiled, inputs):
                    return None
                return Search(original, inputs, self._backend, self._config).run(number)
            finally:
                inputs.restore_random()
        except Exception as error:  # noqa: BLE001 - what was compared already is not lost, whatever went wrong here
            return FirstDifference(kind="failed", graph=number, compiled=0, error=describe_error(error))

    def _differs(self, original: GraphModule, compiled: CompiledGraph, inputs: GraphInputs) -> bool:
        names = [f"output {place}" for place in range(len(original.graph.output_node().args[0]))]  # type: ignore[arg-type]
        expected, found = (
            run_graph(call, inputs, names, gradients=self._config.gradients) for call in (original, compiled)
        )
        return any(
            not leaf.passed
            for each in range(2)
            for leaf in compare_leaves(expected[each], found[each], "output", self._config)
        )
