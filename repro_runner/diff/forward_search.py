"""Search the op of a graph whose value is wrong: on the operands that the backend itself computed, eager has another.

The graph is compiled with further outputs: copies of what ops take and of what they yield.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.fx import Interpreter, Node
from torch.fx.node import map_arg

from repro_runner.constraints.nodes import op_name
from repro_runner.diff.comparison import LeafComparison
from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.difference import FirstDifference
from repro_runner.diff.execution import memory_of
from repro_runner.diff.graph_ops import GraphOp, Moment, OpsOfGraph, shown_name, tensors_by_place, value_at
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
    named_op,
    unknown,
)
from repro_runner.minifier.parts.backends import widened
from repro_runner.model_under_test.model import describe_error
from repro_runner.torch_seams import pytree
from repro_runner.values import Path


class ForwardSearch:
    """Which op of a graph is wrong; `symptom` are the names of the outputs and inputs that differ."""

    def __init__(self, graph: GraphUnderTest, symptom: Iterable[str]) -> None:
        self._graph, self._symptom = graph, set(symptom)
        self._returned: list[LeafComparison] = []
        """Outputs and written inputs of the last probe that are not what it computed."""
        self._ends: dict[str, Moment] = {
            name: (node, (), graph.ops.last_change((node, ())))
            for name, node in graph.named_nodes().items()
            if graph.ops.is_tensor(node) and (node.op != "placeholder" or graph.ops.is_written(node))
        }
        self._control = graph.ops.untouched_input()
        """An input that no op writes to. If a copy of it comes back changed, the other copies prove nothing."""

    def find(self) -> FirstDifference:
        graph = self._graph
        ops = graph.ops.in_order([*graph.ops.ops, *graph.ops.picks])
        hidden: Unjudged[GraphOp] = {op: op.hidden for op in ops if op.hidden}
        judged = [op for op in ops if op not in hidden]
        if graph.ops.has_writes and (kind := self._what_happens_to_copies()):
            return FirstDifference(kind=kind, compiled=0)
        try:
            wrong, unjudged = judge_in_parts(judged, self._probe, graph.config.max_probes)
        except CopiesChanged:
            return FirstDifference(kind="copies", compiled=0)
        if wrong:
            first = next(iter(wrong))
            before = {op: hidden[op] for op in ops[: ops.index(first)] if op in hidden}
            return found_op("op", wrong, before | unjudged)
        if graph.moves_generators and any(map(graph.ops.draws_random_numbers, ops)):
            return replace(unknown(hidden | unjudged, graph), kind="generator")
        if hidden or unjudged or not graph.ops.ops:
            return unknown(hidden | unjudged, graph)
        if self._returned:
            return FirstDifference(kind="outputs", compiled=0, difference=self._returned[0])
        named = graph.named_nodes()
        numbers = [name for name in self._symptom if name in named and not graph.ops.is_tensor(named[name])]
        if numbers:
            why = (f"{name} is no tensor, so it can't be watched: {op_name(named[name])} gives it" for name in numbers)
            return FirstDifference(kind="unknown", compiled=0, open=tuple(sorted(why)))
        return FirstDifference(kind="adds up", compiled=0)

    def _what_happens_to_copies(self) -> str:
        """`elides` or `merges`, if that is what the backend does with copies of which it is known what they are."""
        graph = self._graph
        module = graph.ops.with_control()
        try:
            run = None if module is None else graph.watch(module, graph.inputs, self._symptom)
        except NotShown:
            return ""
        known = [] if run is None else run.returned[graph.outputs :]
        if len(known) != 3 or not all(isinstance(each, Tensor) and each.numel() for each in known):
            return ""
        held = [each.unique().tolist() for each in known]
        return "elides" if held == [[1], [1], [1]] else "merges" if held == [[0], [0], [1]] else ""

    def _probe(self, ops: Sequence[GraphOp]) -> tuple[Wrong[GraphOp], Unjudged[GraphOp]]:
        graph, asked_for = self._graph, ops
        if len(ops) == 1 and graph.ops.draws_random_numbers(ops[0]):
            # If another one is wrong, too, the numbers may have come in another order.
            others = [op for op in graph.ops.ops if graph.ops.draws_random_numbers(op) and not op.hidden]
            ops = [*ops, *(op for op in others if op is not ops[0])]
        ends = (*self._ends.values(), *self._control)
        asked = dict.fromkeys([*(moment for op in ops for moment in (*op.before, *op.after)), *ends])
        moments = [moment for moment in asked if moment[2].op != "placeholder"]
        alone = len(asked_for) == 1
        seen, excuses = self._watch_closely(asked_for[0], moments) if alone else (self._watch(moments), {})
        wrong, hidden = _Judge(graph.ops, ops, seen, graph.config).judge(graph.inputs)
        if wrong:
            again = graph.run(graph.ops.returning(moments))  # made anew: a compiler may change what it is given
            eager = dict(zip(moments, again.returned[graph.outputs :], strict=True))
            doubtful, _ = _Judge(graph.ops, ops, eager, graph.config).judge(graph.inputs)
            hidden |= {op: op.doubt for op in wrong if op.doubt} | excuses | dict.fromkeys(doubtful, EAGER_TOO)
            hidden |= self._drawn_otherwise(wrong)
        found = {op: leaf for op, leaf in wrong.items() if op not in hidden and op in asked_for}
        return found, {op: why for op, why in hidden.items() if op in asked_for}

    def _drawn_otherwise(self, wrong: Iterable[GraphOp]) -> Unjudged[GraphOp]:
        """Ops that drew other random numbers than in eager, or may have."""
        drawing = [op for op in wrong if self._graph.ops.draws_random_numbers(op)]
        if self._graph.moves_generators:
            return dict.fromkeys(drawing, "the backend draws other numbers from torch's generators than eager does")
        return dict.fromkeys(drawing, "it may have drawn its numbers in another order") if len(drawing) > 1 else {}

    def _watch(
        self, moments: Sequence[Moment], again: Sequence[Moment] = (), numbers: Sequence[Node] = ()
    ) -> dict[Moment | Node, Any]:
        """What the backend has at these moments, and for these numbers. CopiesChanged if copies are none; those that
        are asked for `again` have to be the same."""
        graph = self._graph
        run = graph.watch(graph.ops.returning(moments, again, numbers), graph.inputs, self._symptom)
        if (there := len(run.returned)) != (wanted := graph.outputs + len(moments) + len(again) + len(numbers)):
            raise NotShown(f"the graph that is watched has {wanted} outputs, and the backend returns {there}")
        returned = iter(run.returned[graph.outputs :])
        seen: dict[Moment | Node, Any] = dict(zip(moments, returned, strict=False))
        if any(self._unlike(seen[moment], next(returned), "copy", check_dtype=False) for moment in again):
            raise CopiesChanged
        seen |= dict(zip(numbers, returned, strict=True))
        given = [moment for moment in moments if moment[0].op == "placeholder" and not graph.ops.is_written(moment[0])]
        if any(self._unlike(graph.input_of(moment[0]), seen[moment], "input") for moment in given):
            raise CopiesChanged
        places = ((memory_of(seen[moment]), memory_of(run.input(graph.place_of(moment[0])))) for moment in given)
        if any(copy is not None and copy == own for copy, own in places):
            raise CopiesChanged
        graph.refuse_another_difference(run)
        left = run.flat(graph.outputs)
        ends = [(name, seen[moment]) for name, moment in self._ends.items() if moment in seen]
        self._returned = [leaf for name, value in ends for leaf in self._unlike(value, left[name,], name)]
        return seen

    def _watch_closely(
        self, op: GraphOp, moments: Sequence[Moment]
    ) -> tuple[dict[Moment | Node, Any], Unjudged[GraphOp]]:
        """With the inputs that it takes, with copies that are made in another way, with the numbers that it takes, and
        with its operands once more just before it. For all ops at once that would be too much."""
        ops, excuses = self._graph.ops, {}
        own = [moment for moment in (*op.before, *op.after) if moment in moments]
        late = {moment[:2]: moment for moment in ops.just_before(op)}
        seen = self._watch(list(dict.fromkeys([*moments, *ops.inputs_of(op), *late.values()])), own, op.numbers)
        for number in op.numbers:
            if seen[number] != (right := ops.number(number)):
                excuses[op] = f"it takes a number from {op_name(number)}, which gives {seen[number]} instead of {right}"
        for moment in (each for each in op.before if each in seen and each[:2] in late):
            if self._unlike(seen[moment], seen[late[moment[:2]]], "operand"):
                excuses[op] = f"{shown_name(moment[0])}, which it takes, changes{self._when_it_changes(moment, op)}"
        return seen, excuses

    def _when_it_changes(self, moment: Moment, op: GraphOp) -> str:
        """While which op that does not write to it a value is overwritten, if that can be seen."""
        node, place, _ = moment
        later: dict[Moment, GraphOp] = {
            (node, place, other.nodes[-1]): other for other in self._graph.ops.between(moment[2], op)
        }
        with contextlib.suppress(NotShown):
            seen = self._watch([moment, *later])
            for when, other in later.items():
                if self._unlike(seen[moment], seen[when], "operand"):
                    return f" while {named_op(other)} runs, which does not write to it in eager"
        return " after it was made"

    def _unlike(self, expected: Any, found: Any, name: str, *, check_dtype: bool = True) -> list[LeafComparison]:
        """How a copy differs from what it is a copy of."""
        config = replace(self._graph.same, check_dtype=check_dtype and self._graph.same.check_dtype)
        return list(differing({(name,): expected}, {(name,): found}, config).values())


class _Judge(Interpreter):
    """Run a graph eagerly, op by op; each op that is judged is given the operands that the backend had."""

    def __init__(
        self, graph: OpsOfGraph, ops: Sequence[GraphOp], seen: Mapping[Any, Any], config: ComparisonConfig
    ) -> None:
        super().__init__(graph.graph, garbage_collect_values=False)
        self._first = {op.nodes[0]: op for op in ops}
        self._last = {op.nodes[-1]: op for op in ops}
        self._graph, self._writes, self._seen, self._config = graph, graph.has_writes, seen, config
        self._wrong: Wrong[GraphOp] = {}
        self._unjudged: Unjudged[GraphOp] = {}
        self._left = list(ops)

    def judge(self, inputs: GraphInputs) -> tuple[Wrong[GraphOp], Unjudged[GraphOp]]:
        arguments = inputs.plain()
        inputs.restore_random()
        # The graph may set the grad mode, and not set it back.
        with torch.set_grad_enabled(torch.is_grad_enabled()), contextlib.suppress(_CanNotRun):
            self.run(*arguments)
        return {op: leaf for op, leaf in self._wrong.items() if op not in self._unjudged}, self._unjudged

    def run_node(self, n: Node) -> Any:
        if n in self._first:
            op = self._first[n]
            self._adopt(op.before)
            if not all(self._is_adopted(moment) for moment in op.before):
                self._unjudged[op] = "its operands share memory in eager, and not in the backend"
        own = self._last.get(n)
        wide = self._wide(own) if own is not None and own.writes else None
        try:
            self.env[n] = super().run_node(n)
        except Exception as error:  # what the backend computed may be no operand for eager: an index that is too large
            why = f"eager can't run {op_name(n)} on what the backend computed: {describe_error(error)}"
            self._unjudged |= dict.fromkeys(self._left, why)
            raise _CanNotRun from error
        if own is not None:
            self._left.remove(own)
            self._compare(own, wide)
            self._adopt(own.after)
        return self.env[n]

    def _wide(self, op: GraphOp) -> dict[Node, Any]:
        """The operands of an op in float64."""
        return {each: pytree.tree_map(widened, self.env[each]) for each in op.node.all_input_nodes}

    def _in_float64(self, op: GraphOp, moment: Moment, operands: dict[Node, Any] | None) -> Any:
        """What an op has there in float64, on the same operands; None if that can't be known."""
        node, memory = op.node, [memory_of(self.env[each]) for each in op.node.all_input_nodes]
        copied_apart = len(set(memory)) == len(memory) and op.writes_directly(moment)
        if len(op.nodes) > 1 or self._graph.draws_random_numbers(op) or not self._config.float64:
            return None
        if op.writes and not copied_apart:
            return None
        try:
            wide = self._wide(op) if operands is None else dict(operands)
            args, kwargs = map_arg((node.args, node.kwargs), wide.__getitem__)
            wide[node] = getattr(self, node.op)(node.target, args, kwargs)
            return value_at(wide[moment[0]], moment[1])
        except Exception:  # noqa: BLE001 - an op may insist on its dtypes
            return None

    def _compare(self, op: GraphOp, wide: dict[Node, Any] | None) -> None:
        for moment in sorted(op.after, key=op.writes_directly, reverse=True):
            part = "output" if moment[0] in op.nodes else "effect"
            name: Path = (part if part == "output" else f"what it writes to {shown_name(moment[0])}",)
            expected, found = {name: self._value(moment)}, {name: self._seen[moment]}
            if op.yields_anything(moment) and _is_alike(expected[name], found[name]):
                continue
            if not differing(expected, found, self._config, part):
                continue
            exact = {name: self._in_float64(op, moment, wide)}
            for leaf in differing(expected, found, self._config, part, exact).values():
                if self._is_another_item(moment):
                    another = f"one result of {op.name} stands where another should"
                    self._unjudged[op] = f"{another}: it, or what picks it, is wrong"
                elif op.writes_directly(moment):
                    self._wrong.setdefault(op, leaf)
                elif op not in self._wrong:
                    shared = f"{shown_name(moment[0])}, which in eager shares the memory that {op.name} writes to,"
                    self._unjudged[op] = f"{shared} has other values than there: it may not be a view, or a wrong one"

    def _is_another_item(self, moment: Moment) -> bool:
        """Whether it is another result of the same op: that may be right, and the wrong one was picked."""
        others = tensors_by_place(self.env[moment[0]])
        return any(place != moment[1] and _is_same(other, self._seen[moment]) for place, other in others.items())

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


class _CanNotRun(Exception):
    """An op can't be run on the operands that the backend computed."""


def _is_alike(one: Tensor, other: Any) -> bool:
    """But for the values."""
    return isinstance(other, Tensor) and (one.shape, one.dtype) == (other.shape, other.dtype)


def _is_same(one: Tensor, other: Any) -> bool:
    if not _is_alike(one, other):
        return False
    return torch.equal(one, other) or bool(((one == other) | ((one != one) & (other != other))).all())


def _overwritten(tensor: Tensor, value: Tensor) -> bool:
    """Whether the memory of the tensor can take the value."""
    if not _is_alike(tensor, value):
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
