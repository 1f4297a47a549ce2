"""Search the op of a graph whose backward is wrong: from the gradients that the backend has for its results, eager
computes other gradients for its operands.

Gradients inside a graph can be seen from outside: a zero that is added to a value has the gradient of that value as its
own. So a zero is added to each operand of an op, and to each result; they are further inputs of the graph.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, GraphModule, Interpreter, Node
from torch.fx.node import map_arg

from repro_runner.diff.difference import FirstDifference
from repro_runner.diff.graph_ops import GraphOp, Place, tensors_by_place, value_at
from repro_runner.diff.judging import GraphUnderTest, Wrong, differing, found_op, judge_in_parts, unknown

_ALL_RIGHT = (
    "the backward of every op is right for the gradients that it was given: "
    "they add up to the difference, or gradients of a value with several uses are added up wrongly"
)
Zero = tuple[GraphOp, Node, Place]
"""Where a zero is added: to an operand of an op, which that node yields; or to its own result, or an item of it."""


class BackwardSearch:
    """Whose backward is wrong; `symptom` are the names of the gradients that differ."""

    def __init__(self, graph: GraphUnderTest, symptom: Iterable[str]) -> None:
        self._graph, self._symptom = graph, set(symptom)
        self._values = _Values(graph)

    def find(self) -> FirstDifference:
        graph = self._graph
        if graph.ops.has_writes_or_regions:  # a sum in place of a tensor would not be written to
            return unknown([(len(graph.ops.ops), "the graph writes to tensors in place")], graph)
        wrong, unjudged = judge_in_parts(graph.ops.ops[::-1], self._probe, graph.config.max_probes)
        if wrong:
            return found_op("backward", graph, wrong)
        found = unknown(unjudged, graph)
        return found if unjudged else replace(found, open=(_ALL_RIGHT,))

    def _probe(self, ops: Sequence[GraphOp]) -> Wrong:
        graph, values = self._graph, self._values
        zeros = [zero for op in ops for zero in values.zeros(op)]
        inputs = graph.inputs.with_leaves([torch.zeros_like(values.of(zero)) for zero in zeros])
        first = len(graph.inputs)
        run = graph.watch(_with_zeros(graph.ops.graph, zeros), inputs, self._symptom)
        found = {zero: run.gradients[f"gradient of input {first + at}",] for at, zero in enumerate(zeros)}
        return {op: leaf for op in ops if (leaf := self._judge(op, found)) is not None}

    def _judge(self, op: GraphOp, found: Mapping[Zero, Tensor | None]) -> Any:
        expected, got = self._values.gradients(op, found)
        return next(iter(differing(expected, got, self._graph.config, "gradient").values()), None)


class _Values(Interpreter):
    """What each node yields in eager, and the gradients that an op's own backward gives."""

    def __init__(self, graph: GraphUnderTest) -> None:
        super().__init__(graph.ops.graph, garbage_collect_values=False)
        self._inputs = graph.inputs
        self._random: dict[Node, Tensor] = {}
        graph.inputs.restore_random()
        with torch.no_grad():
            self.run(*graph.inputs.plain())

    def run_node(self, n: Node) -> Any:
        self._random[n] = torch.get_rng_state()
        return super().run_node(n)

    def of(self, zero: Zero) -> Tensor:
        _, node, place = zero
        return value_at(self.env[node], place)  # type: ignore[no-any-return]

    def zeros(self, op: GraphOp) -> list[Zero]:
        """The operands and the results of an op that can have a gradient."""
        results = [(op, op.node, place) for place in tensors_by_place(self.env[op.node])]
        operands: list[Zero] = [
            (op, each, ()) for each in op.node.all_input_nodes if isinstance(self.env[each], Tensor)
        ]
        return [zero for zero in [*operands, *results] if _can_have_a_gradient(self.of(zero))]

    def gradients(self, op: GraphOp, found: Mapping[Zero, Tensor | None]) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """(what eager gives, what the backend gave) for each operand."""
        zeros = self.zeros(op)
        leaves = {node: self.env[node].detach().requires_grad_() for _, node, _ in zeros if node is not op.node}
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            torch.set_rng_state(self._random[op.node])
            args, kwargs = map_arg((op.node.args, op.node.kwargs), lambda node: leaves.get(node, self.env[node]))
            results = tensors_by_place(getattr(self, op.node.op)(op.node.target, args, kwargs))
        arrived = {place: found[op, op.node, place] for _, node, place in zeros if node is op.node}
        pairs = [(results[place], grad) for place, grad in arrived.items() if grad is not None]
        pairs = [(result, grad) for result, grad in pairs if result.requires_grad]
        if not pairs or not leaves:
            return {}, {}
        expected = torch.autograd.grad(
            [result for result, _ in pairs], list(leaves.values()), [grad for _, grad in pairs], allow_unused=True
        )
        names = [(f"gradient of {node.name}",) for node in leaves]
        got = [found[op, node, ()] for node in leaves]
        return (
            {name: _or_zeros(grad, leaf) for name, grad, leaf in zip(names, expected, leaves.values(), strict=True)},
            {name: _or_zeros(grad, leaf) for name, grad, leaf in zip(names, got, leaves.values(), strict=True)},
        )


def _can_have_a_gradient(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def _or_zeros(gradient: Tensor | None, leaf: Tensor) -> Tensor:
    return torch.zeros_like(leaf) if gradient is None else gradient.detach()


def _with_zeros(module: GraphModule, zeros: Sequence[Zero]) -> GraphModule:
    """The graph with an input for each zero, and sums where they are added."""
    graph = Graph()
    copies: dict[Node, Node] = {}
    for node in module.graph.find_nodes(op="placeholder"):
        copies[node] = graph.node_copy(node)
    added = {(op.node, node, place): graph.placeholder(f"zero_{at}") for at, (op, node, place) in enumerate(zeros)}
    for node in module.graph.nodes:
        if node.op == "placeholder":
            continue
        copied = {
            each: graph.call_function(torch.add, (copies[each], added[node, each, ()]))
            if (node, each, ()) in added
            else copies[each]
            for each in node.all_input_nodes
        }
        copies[node] = graph.node_copy(node, copied.__getitem__)
        if (zero := added.get(_result_of(node))) is not None:
            copies[node] = graph.call_function(torch.add, (copies[node], zero))
    return GraphModule(module, graph)


def _result_of(node: Node) -> tuple[Node, Node, Place]:
    """The result of an op that a node is; or the item of it that a node picks."""
    if node.target is operator.getitem and isinstance(node.args[0], Node) and isinstance(node.args[1], int):
        return node.args[0], node.args[0], (node.args[1],)
    return node, node, ()
