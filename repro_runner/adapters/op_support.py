"""Which ops of a model's graphs a device takes, how often each occurs, where, and why some are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from torch.fx import GraphModule, Node

from repro_runner.constraints import Constraint, TensorConstraint, op_name, source_line
from repro_runner.constraints.narrowing import Narrowing
from repro_runner.constraints.nodes import branch, is_op, tensors_of
from repro_runner.graphs import TracedGraph


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Refusal:
    """Why a device does not take an op."""

    rule: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpSupport:
    """One op of aten in all graphs of a model."""

    op: str
    forward: int
    """How often it occurs."""
    backward: int
    dtypes: tuple[str, ...]
    """Of the tensors that it is given and yields."""
    sources: tuple[str, ...]
    """The user's lines that it comes from, as `file:line`."""
    refused: int
    """How many of the occurrences the device does not take."""
    reasons: tuple[tuple[Refusal, int], ...]
    """Each with the number of occurrences that it holds for; the most frequent first."""

    @property
    def count(self) -> int:
        return self.forward + self.backward

    @property
    def supported(self) -> bool:
        return self.refused == 0


class OpRecord(TypedDict):
    """An op in op_support.json."""

    op: str
    supported: bool
    count: int
    forward: int
    backward: int
    refused: int
    dtypes: list[str]
    sources: list[str]
    reasons: list[dict[str, Any]]


def op_record(op: OpSupport) -> OpRecord:
    """The same in plain JSON values."""
    return {
        "op": op.op,
        "supported": op.supported,
        "count": op.count,
        "forward": op.forward,
        "backward": op.backward,
        "refused": op.refused,
        "dtypes": list(op.dtypes),
        "sources": list(op.sources),
        "reasons": [{**asdict(reason), "count": count} for reason, count in op.reasons],
    }


class Judge:
    """Decides whether a device takes an op: neither the op nor a tensor that it takes or yields may break a limit."""

    def __init__(self, constraints: Sequence[Constraint]) -> None:
        self._constraints = tuple(constraints)
        # A narrowed limit names its tensors; any other is checked on all tensors that the device has to hold.
        self._on_every_tensor = [
            each for each in constraints if isinstance(each, TensorConstraint) and each.narrowing == Narrowing()
        ]

    def refusals(self, node: Node) -> tuple[Refusal, ...]:
        """All reasons, sorted; empty if the device takes the op."""
        return tuple(sorted(set(self._reasons(node))))

    def takes(self, node: Node) -> bool:
        return next(self._reasons(node), None) is None

    def _reasons(self, node: Node) -> Iterator[Refusal]:
        reported: list[Constraint] = []
        for constraint in self._constraints:
            for violation in constraint.check(node):
                reported.append(constraint)
                yield Refusal(rule=constraint.rule, message=violation.message)
        for given in node.all_input_nodes:
            yield from self._reasons_inside(branch(given))
            for constraint in self._on_every_tensor:
                complaints = filter(None, map(constraint.complaint, tensors_of(given)))
                # The same problem of the result need not be reported twice.
                if not any(each is constraint for each in reported) and (complaint := next(complaints, None)):
                    yield Refusal(rule=constraint.rule, message=f"an argument: {complaint}")

    def _reasons_inside(self, region: GraphModule | None) -> Iterator[Refusal]:
        """The device takes a higher-order op only if it takes all ops of its branches."""
        for node in region.graph.nodes if region is not None else ():
            if is_op(node):
                for reason in self._reasons(node):
                    yield Refusal(rule=reason.rule, message=f"{op_name(node)} in it: {reason.message}")


def list_op_support(graphs: Sequence[TracedGraph], judge: Judge) -> tuple[OpSupport, ...]:
    """Every op that occurs, those that are refused first, then the frequent ones."""
    occurrences: dict[str, list[tuple[str, Node]]] = {}
    for graph, node in _ops(graphs):
        occurrences.setdefault(op_name(node), []).append((graph, node))
    found = [_op_support(op, nodes, judge) for op, nodes in occurrences.items()]
    return tuple(sorted(found, key=lambda each: (each.supported, -each.count, each.op)))


def _op_support(op: str, occurrences: list[tuple[str, Node]], judge: Judge) -> OpSupport:
    refusals = [judge.refusals(node) for _, node in occurrences]
    reasons = Counter(reason for each in refusals for reason in each)
    tensors = [
        tensor for _, node in occurrences for each in (node, *node.all_input_nodes) for tensor in tensors_of(each)
    ]
    return OpSupport(
        op=op,
        forward=sum(graph == "forward" for graph, _ in occurrences),
        backward=sum(graph == "backward" for graph, _ in occurrences),
        dtypes=tuple(sorted({str(tensor.dtype).removeprefix("torch.") for tensor in tensors})),
        sources=tuple(dict.fromkeys(line for _, node in occurrences if (line := source_line(node)))),
        refused=sum(map(bool, refusals)),
        reasons=tuple(sorted(reasons.items(), key=lambda each: (-each[1], each[0]))),
    )


def _ops(graphs: Sequence[TracedGraph]) -> Iterator[tuple[str, Node]]:
    """Each op with `forward` or `backward`, those in the branches of higher-order ops included."""
    for traced in graphs:
        for name, graph in (("forward", traced.forward), ("backward", traced.backward)):
            for part in graph.modules() if graph is not None else ():
                if isinstance(part, GraphModule):
                    yield from ((name, node) for node in part.graph.nodes if is_op(node))
