"""Search the op of a graph whose backward is wrong: from the gradients that the backend has for its results, eager
computes other gradients for its operands. Then the value whose gradient is not the sum of those that its uses have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.fx import Interpreter, Node
from torch.fx.node import map_arg

from repro_runner.diff.added_zeros import Spot, in_turn, operands_of, with_zeros
from repro_runner.diff.comparison import LeafComparison
from repro_runner.diff.difference import FirstDifference
from repro_runner.diff.gradient_sums import Value, is_picked_apart, unlike_sum, values_of
from repro_runner.diff.graph_ops import GraphOp, shown_name, tensors_by_place, value_at
from repro_runner.diff.graph_runs import GraphRun
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
    named_op,
    unknown,
)
from repro_runner.minifier.parts.backends import widened
from repro_runner.torch_seams import pytree
from repro_runner.values import Flat

_ALL_RIGHT = (
    "within the tolerance the backward of every op is right for the gradients that it was given, "
    "and each gradient that could be watched is the sum of those of its uses"
)
_CHANGED = "a zero that is added to a value has another gradient than that value: no gradient tells what was computed"
_NOT_PICKED = "its results are taken in a way that can't be watched"
Gradients = Mapping[Spot, Sequence[Tensor]]


def search_backward(graph: GraphUnderTest, symptom: Iterable[str]) -> FirstDifference:
    """Whose backward is wrong; `symptom` are the names of the gradients that differ."""
    if graph.ops.has_writes:  # a sum in place of a tensor would not be written to
        return unknown(dict.fromkeys(graph.ops.ops, "the graph writes to tensors in place"), graph)
    if graph.ops.has_regions:
        return unknown(dict.fromkeys(graph.ops.ops, "nothing can be added to values inside vmap and the like"), graph)
    return _BackwardSearch(graph, symptom).find()


class _BackwardSearch:
    def __init__(self, graph: GraphUnderTest, symptom: Iterable[str]) -> None:
        self._graph, self._symptom = graph, set(symptom)
        self._eager = _Eager(graph)
        self._values = values_of(graph.ops, self._eager.env)
        outputs = graph.ops.outputs[: graph.weighted]
        returned = (each for each in outputs if isinstance(each, Node) and self._eager.has_a_gradient(each))
        ends = sorted(returned, key=lambda each: len(each.users))
        self._end: list[Spot] = [(graph.ops.graph.graph.output_node(), each, (0,)) for each in ends[:1]]
        """An output, best one that nothing else takes. Its gradient is known: the backward began with it."""

    def find(self) -> FirstDifference:
        graph = self._graph
        hidden = {op: _NOT_PICKED for op in graph.ops.ops if not is_picked_apart(op.node, graph.ops)}
        ops = [op for op in graph.ops.ops[::-1] if op not in hidden]
        try:
            wrong, unjudged = judge_in_parts(ops, self._probe, graph.config.max_probes)
            if wrong:
                first = next(iter(wrong))
                before = {op: why for op, why in hidden.items() if op.position > first.position}
                return found_op("backward", wrong, before | unjudged)
            sums, unsummed = self._judge_sums()
        except CopiesChanged as reason:
            return FirstDifference(kind="copies", compiled=0, open=(str(reason),) if str(reason) else ())
        if sums:
            return self._found_sum(sums)
        found = unknown(hidden | unjudged, graph)
        reasons = dict.fromkeys(unsummed.values())
        why = [f"of some gradients it is not known whether they are sums: {reason}" for reason in reasons]
        return replace(found, open=(*(found.open if unjudged or hidden else [_ALL_RIGHT]), *why))

    def _probe(self, ops: Sequence[GraphOp]) -> tuple[Wrong[GraphOp], Unjudged[GraphOp]]:
        spots = [spot for op in ops for spot in self._eager.spots(op)]
        shown = self._eager.operands(ops[0]) if len(ops) == 1 else []
        found, run = self._watch(spots, shown)
        # Of a value with one use both gradients are watched, and are the same: else zeros are no way to see gradients.
        alone = [value for value in self._values if value.result and len(value.uses) == 1 and not value.returned]
        rows = [[found[spot][0] for spot in _spots_of([value]) if spot in found] for value in alone]
        if any(self._unlike(*row) for row in rows if len(row) == 2):
            raise CopiesChanged(_CHANGED)
        self._graph.refuse_another_difference(run)
        wrong = {op: leaf for op in ops if (leaf := self._judge(op, found)) is not None}
        eager, _ = self._run_eager(spots) if wrong else ({}, run)
        excused = {op: EAGER_TOO for op in wrong if self._judge(op, eager) is not None}
        operands = dict(zip(shown, run.returned[self._graph.outputs :], strict=True))
        for op in wrong if shown else ():
            # A kink may lie between what eager computed and what the backend did, both within the tolerance.
            if not self._graph.ops.draws_random_numbers(op) and self._judge(op, found, operands) is None:
                right = "is right for the values that the backend computed, and not for eager's"
                excused[op] = f"the backward of {op.name} {right}"
        return {op: leaf for op, leaf in wrong.items() if op not in excused}, excused

    def _run_eager(self, spots: Sequence[Spot]) -> tuple[Gradients, GraphRun]:
        """What is found if eager is the backend."""
        module, inputs = with_zeros(self._graph.ops, spots), self._graph.inputs.with_leaves(self._eager.zeros(spots))
        run = self._graph.run(module, inputs)
        return self._gradients(spots, run), run

    def _judge(
        self, op: GraphOp, found: Gradients, operands: Mapping[Node, Any] | None = None
    ) -> LeafComparison | None:
        """What is wrong about the gradients of its operands, which are those of eager, or others."""
        gradients, exact = list(self._eager.gradients(op, found, operands)), None
        for at, (name, expected, got) in enumerate(gradients):
            if not differing({(name,): expected}, {(name,): got}, self._graph.config, "gradient"):
                continue
            exact = self._in_float64(op, found, operands) if exact is None else exact
            known: Flat = {(name,): exact[at]} if exact else {}
            for leaf in differing({(name,): expected}, {(name,): got}, self._graph.config, "gradient", known).values():
                return leaf
        return None

    def _in_float64(self, op: GraphOp, found: Gradients, operands: Mapping[Node, Any] | None) -> list[Tensor]:
        """The gradients of the operands in float64; empty if they can't be known."""
        if self._graph.ops.draws_random_numbers(op) or not self._graph.config.float64:
            return []
        values = {**self._eager.env, **(operands or {})}
        wide = {node: pytree.tree_map(widened, values[node]) for node in op.node.all_input_nodes}
        try:
            return [expected for _, expected, _ in self._eager.gradients(op, found, wide)]
        except Exception:  # noqa: BLE001 - an op may insist on its dtypes
            return []

    def _judge_sums(self) -> tuple[Wrong[Value], Unjudged[Value]]:
        """Of the values whose gradients are sums in eager. Under `no_grad`, say, they are not."""
        found, run = self._run_eager(_spots_of(self._values))
        values = [value for value in self._values[::-1] if self._unlike_sum(value, found, run) is None]
        inputs_of_graph = [value for value in values if value.result is None]
        unjudged: Unjudged[Value] = {}
        # Inputs first: to watch them changes less, since the backward returns their gradients as it is.
        for part in (inputs_of_graph, [value for value in values if value.result is not None]):
            left = self._graph.config.max_probes - self._graph.compiled
            wrong, others = judge_in_parts(part, self._probe_sums, left)
            if wrong:
                return wrong, {}
            unjudged |= others
        return {}, unjudged

    def _probe_sums(self, values: Sequence[Value]) -> tuple[Wrong[Value], Unjudged[Value]]:
        """Two zeros are added to each use. If they have the same gradient, then so has what they are added to."""
        spots = _spots_of(values)
        found, run = self._watch([*spots, *(use for value in values for use in value.uses)])
        if any(self._unlike(*found[use][:2]) for value in values for use in value.uses):
            raise NotShown(_CHANGED)
        self._graph.refuse_another_difference(run)
        return {value: leaf for value in values if (leaf := self._unlike_sum(value, found, run)) is not None}, {}

    def _unlike_sum(self, value: Value, found: Gradients, run: GraphRun) -> LeafComparison | None:
        if not value.uses:
            return None
        terms = [found[use][0] for use in value.uses]
        terms += [run.weights[at] for at in value.returned if at in run.weights]
        if value.result is not None:
            total = found[value.result][0]
        elif self._graph.inputs.requires_grad(at := self._graph.place_of(value.maker)):
            total = _or_zeros(run.gradient_of(at), terms[0])
        else:
            return None
        return unlike_sum(value.name, total, terms, self._graph.config)

    def _watch(self, spots: Sequence[Spot], shown: Sequence[Node] = ()) -> tuple[Gradients, GraphRun]:
        """The gradients that the backend has at these spots; its run returns what is `shown`, too. CopiesChanged if a
        gradient that is known comes back changed."""
        graph, spots = self._graph, [*spots, *self._end]
        inputs = graph.inputs.with_leaves(self._eager.zeros(spots))
        run = graph.watch(with_zeros(graph.ops, spots, shown), inputs, self._symptom)
        if len(run.returned) != graph.outputs + len(shown):
            raise NotShown("the backend does not return all that is watched")
        found = self._gradients(spots, run)
        for end in self._end:
            known = run.weights.get(graph.ops.outputs.index(end[1]))
            if known is not None and self._unlike(known, found[end][0]):
                raise CopiesChanged
        return found, run

    def _gradients(self, spots: Sequence[Spot], run: GraphRun) -> Gradients:
        found: dict[Spot, list[Tensor]] = defaultdict(list)
        for at, spot in enumerate(spots, start=len(self._graph.inputs)):
            found[spot].append(_or_zeros(run.gradient_of(at), self._eager.of(spot)))
        return found

    def _unlike(self, one: Tensor, other: Tensor) -> bool:
        return bool(differing({("gradient",): one}, {("gradient",): other}, self._graph.config))

    def _found_sum(self, sums: Mapping[Value, LeafComparison]) -> FirstDifference:
        value, difference = next(iter(sums.items()))
        takers = {user for user, _, _ in value.uses}
        uses = tuple(named_op(op) for op in self._graph.ops.ops if op.node in takers)
        returned = ("the graph returns the value, too",) if value.returned else ()
        return FirstDifference(
            kind="sum", compiled=0, difference=difference, uses=uses, open=returned, others=len(sums) - 1
        )


def _spots_of(values: Sequence[Value]) -> list[Spot]:
    return [spot for value in values for spot in (value.result, *value.uses) if spot is not None]


class _Eager(Interpreter):
    """What each node yields in eager; and each op with its own backward, apart from the others."""

    def __init__(self, graph: GraphUnderTest) -> None:
        super().__init__(graph.ops.graph, garbage_collect_values=False)
        self._ops = {op.node for op in graph.ops.ops}
        self._leaves: dict[Node, dict[Spot, Tensor]] = {}
        graph.inputs.restore_random()
        with torch.set_grad_enabled(torch.is_grad_enabled()):  # the graph may set it, and not set it back
            self.run(*graph.inputs.fresh()[0])

    def run_node(self, n: Node) -> Any:
        if n not in self._ops:
            return super().run_node(n)
        self._leaves[n], result = self._run_apart(n, self.env)
        return result

    def _run_apart(self, node: Node, values: Mapping[Node, Any]) -> tuple[dict[Spot, Tensor], Any]:
        """(the operands that have a gradient; the result)"""
        spots = operands_of(node)
        differentiated = (spot for spot in spots if self.has_a_gradient(spot[1]))
        leaves = {spot: values[spot[1]].detach().requires_grad_() for spot in differentiated}
        args, kwargs = map_arg((node.args, node.kwargs), in_turn(leaves.get(spot, values[spot[1]]) for spot in spots))
        result = getattr(self, node.op)(node.target, args, kwargs)
        return leaves, pytree.tree_map(lambda each: _differentiated(each, leaves.values()), result)

    def operands(self, op: GraphOp) -> list[Node]:
        """The tensors that an op takes, but for inputs of the graph."""
        return [
            node for node in op.node.all_input_nodes if isinstance(self.env[node], Tensor) and node.op != "placeholder"
        ]

    def of(self, spot: Spot) -> Tensor:
        taker, node, place = spot
        return value_at(self.env[node], place if taker is node else ())  # type: ignore[no-any-return]

    def zeros(self, spots: Sequence[Spot]) -> list[Tensor]:
        return [torch.zeros_like(self.of(spot)) for spot in spots]

    def has_a_gradient(self, node: Node) -> bool:
        return isinstance(value := self.env[node], Tensor) and value.requires_grad

    def spots(self, op: GraphOp) -> list[Spot]:
        """The operands and the results of an op that have a gradient."""
        results = [(op.node, op.node, place) for place in tensors_by_place(self.env[op.node])]
        there = [spot for spot in results if self.of(spot).requires_grad]
        return [*self._leaves[op.node], *there]

    def gradients(
        self, op: GraphOp, found: Gradients, operands: Mapping[Node, Any] | None = None
    ) -> Iterator[tuple[str, Tensor, Tensor]]:
        """(name, what eager gives, what the backend gave) for each operand."""
        leaves, result = self._leaves[op.node], self.env[op.node]
        if operands is not None:
            leaves, result = self._run_apart(op.node, {**self.env, **operands})
        spots = (spot for spot in self.spots(op) if spot[1] is op.node)
        arrived = [(value_at(result, spot[2]), found[spot][0]) for spot in spots]
        arrived = [(each, gradient.to(each.dtype)) for each, gradient in arrived]
        expected: Sequence[Tensor | None] = [None for _ in leaves]
        if arrived and leaves:
            results, gradients = zip(*arrived, strict=True)
            expected = torch.autograd.grad(
                results, list(leaves.values()), gradients, retain_graph=True, allow_unused=True
            )
        for (spot, leaf), gradient in zip(leaves.items(), expected, strict=True):
            _, node, (time,) = spot
            name = f"gradient of {shown_name(node)}{', taken again' * time}"
            yield name, _or_zeros(gradient, leaf), found[spot][0]


def _differentiated(result: Any, operands: Iterable[Tensor]) -> Any:
    """A result by which it can be told whether it has a gradient. Dropout may return its operand itself; and a view
    that was made under `no_grad` requires a gradient, and passes none on."""
    if any(result is operand for operand in operands):
        result = result.view_as(result)
    return result.detach() if isinstance(result, Tensor) and result.grad_fn is None else result


def _or_zeros(gradient: Tensor | None, like: Tensor) -> Tensor:
    return torch.zeros_like(like) if gradient is None else gradient.detach()
