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
    EAGER_TOO,
    CopiesChanged,
    GraphUnderTest,
    NotShown,
    Unjudged,
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
        hidden: Unjudged[GraphOp] = {op: op.hidden for op in graph.ops.ops if op.hidden}
        ops = [op for op in graph.ops.ops if op not in hidden]
        try:
            wrong, unjudged = judge_in_parts(ops, self._probe, graph.config.max_probes)
        except CopiesChanged:
            return FirstDifference(kind="copies", compiled=0)
        if wrong:
            first = next(iter(wrong))
            before = {op: why for op, why in hidden.items() if op.position < first.position}
            return found_op("op", wrong, before | unjudged)
        if hidden or unjudged or not graph.ops.ops:
            return unknown(hidden | unjudged, graph)
        if self._returned:
            return FirstDifference(kind="outputs", compiled=0, difference=self._returned[0])
        return FirstDifference(kind="adds up", compiled=0)

    def _probe(self, ops: Sequence[GraphOp]) -> tuple[Wrong[GraphOp], Unjudged[GraphOp]]:
        graph, ends, control = self._graph, self._ends, self._control
        asked = dict.fromkeys([*(moment for op in ops for moment in (*op.before, *op.after)), *ends.values(), *control])
        # Inputs are watched with a single op only: their copies may be large.
        inputs = graph.ops.inputs_of(ops[0]) if len(ops) == 1 else []
        moments = [*(moment for moment in asked if moment[2].op != "placeholder"), *inputs]
        run = graph.watch(graph.ops.returning(moments), graph.inputs, self._symptom)
        if (there := len(run.returned)) != (wanted := graph.outputs + len(moments)):
            raise NotShown(f"the graph that is watched has {wanted} outputs, and the backend returns {there}")
        seen = dict(zip(moments, run.returned[graph.outputs :], strict=True))
        if any(self._unlike(graph.input_of(moment[0]), seen[moment], "input") for moment in (*control, *inputs)):
            raise CopiesChanged
        graph.refuse_another_difference(run)
        computed = {at: seen[moment] for at, moment in ends.items() if moment in seen}
        self._returned = [
            leaf for at, value in computed.items() for leaf in self._unlike(value, run.returned[at], f"output {at}")
        ]
        wrong, hidden = _Judge(graph.ops, ops, seen, graph.config).judge(graph.inputs)
        if wrong:
            again = graph.run(graph.ops.returning(moments))  # made anew: a compiler may change what it is given
            eager = dict(zip(moments, again.returned[graph.outputs :], strict=True))
            doubtful, _ = _Judge(graph.ops, ops, eager, graph.config).judge(graph.inputs)
            hidden |= dict.fromkeys(doubtful, EAGER_TOO)
        return {op: leaf for op, leaf in wrong.items() if op not in hidden}, hidden

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
        self._writes, self._seen, self._config = graph.has_writes, seen, config
        self._wrong: Wrong[GraphOp] = {}
        self._unjudged: Unjudged[GraphOp] = {}

    def judge(self, inputs: GraphInputs) -> tuple[Wrong[GraphOp], Unjudged[GraphOp]]:
        arguments = inputs.plain()
        inputs.restore_random()
        with torch.set_grad_enabled(torch.is_grad_enabled()):  # the graph may set it, and not set it back
            self.run(*arguments)
        return {op: leaf for op, leaf in self._wrong.items() if op not in self._unjudged}, self._unjudged

    def run_node(self, n: Node) -> Any:
        if n in self._first:
            op = self._first[n]
            self._adopt(op.before)
            if not all(self._is_adopted(moment) for moment in op.before):
                self._unjudged[op] = "its operands share memory in eager, and not in the backend"
        self.env[n] = super().run_node(n)
        if n in self._last:
            self._compare(self._last[n])
            self._adopt(self._last[n].after)
        return self.env[n]

    def _compare(self, op: GraphOp) -> None:
        for moment in sorted(op.after, key=op.writes_directly, reverse=True):
            part = "output" if moment[0] in op.nodes else "effect"
            name: Path = (part if part == "output" else f"what it writes to {shown_name(moment[0])}",)
            expected, found = {name: self._value(moment)}, {name: self._seen[moment]}
            for leaf in differing(expected, found, self._config, part).values():
                if op.writes_directly(moment):
                    self._wrong.setdefault(op, leaf)
                elif op not in self._wrong:
                    unreached = f"does not reach {shown_name(moment[0])}, which shares that memory in eager"
                    self._unjudged[op] = f"what {op.name} writes {unreached}: that may be no view, or a wrong one"

    def _value(self, moment: Moment) -> Any:
        value = value_at(self.env[moment[0]], moment[1])
        return value.detach() if isinstance(value, Tensor) else value

    def _is_adopted(self, moment: Moment) -> bool:
        return moment not in self._seen or _is_same(self._value(moment), self._seen[moment])

    def _adopt(self, moments: Iterable[Moment]) -> None:
        """Go on with the backend's values. If the graph writes to tensors, they are put into the memory that is there:
        others may share it."""
        for moment in moments:
            mine, found = self._value(moment), self._seen.get(moment)
            if not isinstance(found, Tensor) or _is_same(mine, found):
                continue
            if not self._writes or not _overwritten(mine, found):
                self.env[moment[0]] = _replaced(self.env[moment[0]], moment[1], found.clone())


def _is_same(one: Tensor, other: Any) -> bool:
    if not isinstance(other, Tensor) or (one.shape, one.dtype) != (other.shape, other.dtype):
        return False
    return torch.equal(one, other) or bool(((one == other) | ((one != one) & (other != other))).all())


def _overwritten(tensor: Tensor, value: Tensor) -> bool:
    """Whether the memory of the tensor can take the value."""
    if (tensor.shape, tensor.dtype) != (value.shape, value.dtype):
        return False
    try:
        tensor.copy_(value)
    except RuntimeError:  # several elements share one place
        return False
    return True


def _replaced(value: Any, place: Sequence[int], tensor: Tensor) -> Any:
    if not place:
        return tensor
    items = [_replaced(item, place[1:], tensor) if at == place[0] else item for at, item in enumerate(value)]
    return tuple(items) if isinstance(value, tuple) else items
