"""A graph as eager and a backend run it, and how its ops are judged: all at once where that works, else in parts."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import torch
from torch.fx import GraphModule, Node

from repro_runner.diff.comparison import LeafComparison, compare_leaves
from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.difference import FirstDifference, Op
from repro_runner.diff.graph_ops import GraphOp, OpsOfGraph, shown_name
from repro_runner.diff.graph_runs import GraphInputs, GraphRun, run_graph
from repro_runner.graphs.by_name import Backend
from repro_runner.model_under_test.model import describe_backend_error
from repro_runner.output.units import counted
from repro_runner.values import Flat

_CONFIRMED = 3
"""So many of the ops that are wrong while all are watched are watched again by themselves."""


EAGER_TOO = "by the same test, eager itself would be wrong there"
_GIVEN_UP = 4
"""So many single ops that can't be judged are enough: it would be the same with the others."""


class NotShown(Exception):
    """While these ops are watched, nothing can be said about them; the text says why."""


class CopiesChanged(Exception):
    """Even what is only passed on comes back changed, so that nothing which the backend returns can be trusted."""


class _Named(Protocol):
    @property
    def name(self) -> str: ...


Judged = TypeVar("Judged", bound=_Named)
Wrong = dict[Judged, LeafComparison]
Unjudged = dict[Judged, str]
"""What could not be judged, and why."""
Probe = Callable[[Sequence[Judged]], tuple[Wrong[Judged], Unjudged[Judged]]]
"""Watch these ops, or values, and return those that are wrong. Raises NotShown."""


def judge_in_parts(ops: Sequence[Judged], probe: Probe[Judged], most: int) -> tuple[Wrong[Judged], Unjudged[Judged]]:
    """(the wrong ops of the first part that has one, confirmed one by one; those before that could not be judged).

    At most `most` graphs are compiled."""
    parts, left, alone = [list(ops)] if ops else [], most, 0
    unjudged: Unjudged[Judged] = {}
    while parts and left > 0 and alone < _GIVEN_UP:
        part = parts.pop(0)
        left -= 1
        try:
            wrong, hidden = probe(part)
        except NotShown as reason:
            if len(part) > 1:
                parts[:0] = [part[: len(part) // 2], part[len(part) // 2 :]]
            else:
                unjudged[part[0]] = str(reason)
                alone += 1
            continue
        unjudged |= hidden
        for op in list(wrong)[:_CONFIRMED]:
            confirmed, why = _confirm(op, probe)
            if confirmed:
                before = {each: unjudged[each] for each in ops[: ops.index(op)] if each in unjudged}
                others = {each: leaf for each, leaf in wrong.items() if each is not op and each not in unjudged}
                return {**confirmed, **others}, before
            unjudged[op] = why
            alone += 1
        unjudged |= dict.fromkeys(list(wrong)[_CONFIRMED:], "wrong while others are watched, too, and not tried alone")
    return {}, unjudged | {op: "not tried" for part in parts for op in part}


def _confirm(op: Judged, probe: Probe[Judged]) -> tuple[Wrong[Judged], str]:
    try:
        wrong, hidden = probe([op])
    except NotShown as reason:
        return {}, str(reason)
    return wrong, hidden.get(op, f"{op.name} is wrong while others are watched, too, and right when it alone is")


class GraphUnderTest:
    """A graph that was called with `inputs`, as eager and the backend run it. A backward begins with the first
    `weighted` outputs; default: all."""

    def __init__(
        self,
        graph: GraphModule,
        inputs: GraphInputs,
        backend: Backend,
        config: ComparisonConfig,
        weighted: int | None = None,
    ) -> None:
        self.inputs, self.backend, self.config = inputs, backend, config
        self.ops = OpsOfGraph(graph, inputs.fresh()[0])
        self.weighted = self.outputs if weighted is None else weighted
        self.expected = self.run(graph)
        self.compiled = 0
        self.found = self.expected
        """What the backend left, once it was examined."""
        self._symptom: dict[str, LeafComparison] = {}
        self.same = replace(config, equal_nan=True, check_layout=False)
        """How copies are compared with what they are copies of."""

    @property
    def outputs(self) -> int:
        return len(self.ops.outputs)

    def input_of(self, node: Node) -> Any:
        """What the graph is given for a placeholder."""
        return self.inputs[self.place_of(node)]

    def named_nodes(self) -> dict[str, Node]:
        """The outputs and the inputs by the names that they have in a run."""
        inputs = self.ops.graph.graph.find_nodes(op="placeholder")
        outputs = {f"output {at}": each for at, each in enumerate(self.ops.outputs) if isinstance(each, Node)}
        return outputs | {f"input {at}": node for at, node in enumerate(inputs)}

    def place_of(self, placeholder: Node) -> int:
        """Which of the inputs it stands for."""
        return self.ops.graph.graph.find_nodes(op="placeholder").index(placeholder)

    def run(self, call: Callable[..., Any], inputs: GraphInputs | None = None) -> GraphRun:
        """Of this graph, or one that has further inputs and outputs."""
        return run_graph(call, inputs or self.inputs, gradients=self.config.gradients, weighted=self.weighted)

    def examine(self, compiled: Callable[..., Any]) -> dict[str, LeafComparison]:
        """Run what the backend made of this graph, and return what differs from eager."""
        self.found = self.run(compiled)
        self._symptom = self.differing(self.found)
        if self._symptom and (exact := self._in_float64()):
            expected, found = (run.flat(self.outputs) for run in (self.expected, self.found))
            self._symptom = differing(expected, found, self.config, exact=exact)
        return self._symptom

    def _in_float64(self) -> Flat:
        """What the graph leaves in float64; empty if it can't run so."""
        wide = self.inputs.in_float64() if self.config.float64 else None
        try:
            return {} if wide is None else self.run(copy.deepcopy(self.ops.graph), wide).flat(self.outputs)
        except Exception:  # noqa: BLE001 - a program may insist on its dtypes
            return {}

    @property
    def moves_generators(self) -> bool:
        """Whether the backend leaves torch's generators in another state than eager does."""
        return any(not torch.equal(*both) for both in zip(self.expected.random, self.found.random, strict=True))

    def varies(self, compiled: Callable[..., Any]) -> bool:
        """Whether another run gives something else than the one that was examined."""
        return self.has_another_difference(self.run(compiled))

    def written_by_mistake(self) -> LeafComparison | None:
        """An input that the backend changed, and eager leaves as it is."""
        for at, node in enumerate(self.ops.graph.graph.find_nodes(op="placeholder")):
            if (name := f"input {at}") in self._symptom and not self.ops.is_written(node):
                return replace(self._symptom[name], name=f"what it writes to {shown_name(node)}")
        return None

    def watch(self, graph: GraphModule, inputs: GraphInputs, symptom: Set[str]) -> GraphRun:
        """Run a graph that shows more than this one, as the backend compiles it. NotShown if that fails, or if nothing
        of what should differ does."""
        self.compiled += 1
        try:
            # The backend is called as Dynamo would call it: the graph is traced already.
            with torch.set_grad_enabled(torch.is_grad_enabled()):
                compiled = self.backend(graph, inputs.fresh()[0])
            found = self.run(compiled, inputs)
        except Exception as error:
            raise NotShown(
                f"the backend failed on the graph that is watched: {describe_backend_error(error)}"
            ) from error
        if not symptom & self.differing(found).keys():
            raise NotShown("while it is watched, the difference vanishes")
        return found

    def refuse_another_difference(self, found: GraphRun) -> None:
        """NotShown if the graph that is watched has another difference: what is wrong there need not be wrong here."""
        if self.has_another_difference(found):
            raise NotShown("while it is watched, something else differs, too")

    def has_another_difference(self, found: GraphRun) -> bool:
        """Whether this is not what the backend left of the graph itself."""
        return bool(differing(self.found.flat(self.outputs), found.flat(self.outputs), self.same))

    def differing(self, found: GraphRun) -> dict[str, LeafComparison]:
        """By name, what differs from eager: outputs, inputs, gradients."""
        return differing(self.expected.flat(self.outputs), found.flat(self.outputs), self.config)


def differing(
    expected: Flat, found: Flat, config: ComparisonConfig, part: str = "output", exact: Flat | None = None
) -> dict[str, LeafComparison]:
    """By name, what differs, but for what `exact`, the same in float64, shows to be rounding."""
    return {leaf.name: leaf for leaf in compare_leaves(expected, found, part, config, exact) if not leaf.passed}


def named_op(op: GraphOp) -> Op:
    return Op(
        name=op.name,
        node=op.node.name,
        source=op.source,
        position=op.position,
        count=op.size or 1,
        operands=op.operands,
    )


def found_op(kind: str, wrong: Wrong[GraphOp], unjudged: Unjudged[GraphOp]) -> FirstDifference:
    op, difference = next(iter(wrong.items()))
    return FirstDifference(
        kind=kind,
        compiled=0,
        op=named_op(op),
        difference=difference,
        others=len(wrong) - 1,
        open=tuple(
            f"{counted(number, 'op')} before it could not be judged: {why}" for why, number in _by_reason(unjudged)
        ),
    )


def unknown(unjudged: Unjudged[GraphOp], graph: GraphUnderTest) -> FirstDifference:
    """What could not be judged, by reason."""
    by_reason, of = _by_reason(unjudged), f"of {counted(graph.ops.count, 'op')}"
    judged = graph.ops.count - sum(number for _, number in by_reason)
    verb = "is right for its operands" if judged == 1 else "are right for their operands"
    right = [f"{judged} {of} {verb}"] if judged > 0 else []
    left = (f"{number} {of} could not be judged: {why}" for why, number in by_reason)
    return FirstDifference(kind="unknown", compiled=0, open=(*right, *left))


def _by_reason(unjudged: Unjudged[GraphOp]) -> list[tuple[str, int]]:
    """Why, and of how many ops."""
    counts = Counter[str]()
    for op, why in unjudged.items():
        counts[why] += op.size
    return list(counts.items())
