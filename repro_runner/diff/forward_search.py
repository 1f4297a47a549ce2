"""Search the op of a graph whose value is wrong: on the operands that the backend itself computed, eager has another.

The graph is compiled with further outputs: copies of what ops take and of what they yield.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.fx import Interpreter, Node

from repro_runner.diff.comparison import LeafComparison
from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.difference import FirstDifference
from repro_runner.diff.graph_ops import GraphOp, Moment, OpsOfGraph, shown_name, value_at
from repro_runner.diff.graph_runs import GraphInputs
from repro_runner.diff.judging import (
    CopiesChanged,
    GraphUnderTest,
    NotShown,
    Wrong,
    differing,
    found_op,
    judge_in_parts,
    unknown,
)
from repro_runner.values import Path


class ForwardSearch:
    """Which op of a graph is wrong; `symptom` are the names of the outputs and inputs that differ."""

    def __init__(self, graph: GraphUnderTest, symptom: Iterable[str]) -> None:
        self._graph, self._symptom = graph, set(symptom)
        self._returned: list[LeafComparison] = []
        """Outputs of the last probe that are not what it computed."""
        outputs = ((at, each) for at, each in enumerate(graph.ops.outputs) if isinstance(each, Node))
        self._ends: dict[int, Moment] = {
            at: (each, (), graph.ops.last_change((each, ()))) for at, each in outputs if graph.ops.is_tensor(each)
        }
        self._control = graph.ops.untouched_input()
        """An input that no op writes to. If a copy of it comes back changed, the other copies prove nothing."""

    def find(self) -> FirstDifference:
        graph = self._graph
        try:
            wrong, unjudged = judge_in_parts(graph.ops.ops, self._probe, graph.config.max_probes)
        except CopiesChanged:
            return FirstDifference(kind="copies", compiled=0)
        if wrong:
            return found_op("op", graph, wrong)
        if unjudged or not graph.ops.ops:
            return unknown(unjudged, graph)
        if self._returned:
            return FirstDifference(kind="outputs", compiled=0, difference=self._returned[0])
        return FirstDifference(kind="adds up", compiled=0)

    def _probe(self, ops: Sequence[GraphOp]) -> Wrong:
        graph, ends, control = self._graph, self._ends, self._control
        asked = dict.fromkeys([*(moment for op in ops for moment in (*op.before, *op.after)), *ends.values(), *control])
        moments = [moment for moment in asked if moment[2].op != "placeholder"]
        run = graph.watch(graph.ops.returning(moments), graph.inputs, self._symptom)
        if (there := len(run.returned)) != (wanted := graph.outputs + len(moments)):
            raise NotShown(f"the graph that is watched has {wanted} outputs, and the backend returns {there}")
        seen = dict(zip(moments, run.returned[graph.outputs :], strict=True))
        if any(self._unlike(graph.input_of(moment[0]), seen[moment], "input") for moment in control):
            raise CopiesChanged
        graph.refuse_another_difference(run)
        computed = {at: seen[moment] for at, moment in ends.items() if moment in seen}
        self._returned = [
            leaf for at, value in computed.items() for leaf in self._unlike(value, run.returned[at], f"output {at}")
        ]
        return _Judge(graph.ops, ops, seen, graph.config).judge(graph.inputs)

    def _unlike(self, expected: Any, found: Any, name: str) -> list[LeafComparison]:
        return list(differing({(name,): expected}, {(name,): found}, self._graph.config).values())


class _Judge(Interpreter):
    """Run a graph eagerly, op by op; each op that is judged is given the operands that the backend had."""

    def __init__(
        self, graph: OpsOfGraph, ops: Sequence[GraphOp], seen: Mapping[Moment, Any], config: ComparisonConfig
    ) -> None:
        super().__init__(graph.graph, garbage_collect_values=False)
        self._first = {op.nodes[0]: op for op in ops}
        self._last = {op.nodes[-1]: op for op in ops}
        self._seen, self._config = seen, config
        self._wrong: Wrong = {}

    def judge(self, inputs: GraphInputs) -> Wrong:
        arguments = inputs.plain()
        inputs.restore_random()
        with torch.no_grad():
            self.run(*arguments)
        return self._wrong

    def run_node(self, n: Node) -> Any:
        if n in self._first:
            for moment in self._first[n].before:
                self._adopt(moment)
        self.env[n] = super().run_node(n)
        if n in self._last:
            op = self._last[n]
            for moment in op.after:
                part = "output" if moment[0] in op.nodes else "effect"
                name: Path = (part if part == "output" else f"what it writes to {shown_name(moment[0])}",)
                expected, found = {name: self._value(moment)}, {name: self._seen[moment]}
                for leaf in differing(expected, found, self._config, part).values():
                    self._wrong.setdefault(op, leaf)
                self._adopt(moment)
        return self.env[n]

    def _value(self, moment: Moment) -> Any:
        return value_at(self.env[moment[0]], moment[1])

    def _adopt(self, moment: Moment) -> None:
        """Go on with the backend's value. A copy takes its place only where it differs: others may share its memory."""
        mine, found = self._value(moment), self._seen.get(moment)
        if not isinstance(found, Tensor) or (mine.shape == found.shape and torch.equal(mine, found)):
            return
        self.env[moment[0]] = _replaced(self.env[moment[0]], moment[1], found.clone())


def _replaced(value: Any, place: Sequence[int], tensor: Tensor) -> Any:
    if not place:
        return tensor
    items = [_replaced(item, place[1:], tensor) if at == place[0] else item for at, item in enumerate(value)]
    return tuple(items) if isinstance(value, tuple) else items
