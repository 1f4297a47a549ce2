"""Check every constraint on every node of the traced graphs, before any is lowered; and the document of violations."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict, cast

from torch.fx import GraphModule, Node

from registry.documents import Document, head
from repro_runner.constraints.base import Constraint, Violation


class ViolationRecord(TypedDict, total=False):
    """A violation in plain JSON values."""

    rule: str
    op: str
    message: str
    dtype: str | None
    shape: list[int | str] | None
    """A dynamic dimension is its symbol."""
    source: str
    graph: str
    node: str
    name: str
    """What the user calls the input that it is about; left out for an op."""
    index: int
    """Of its graph, where there are several."""


class ViolationsDocument(Document):
    """The content of violations.json."""

    violations: list[ViolationRecord]


def violations_document(records: Iterable[ViolationRecord]) -> ViolationsDocument:
    """violations.json with these records."""
    return {**head("violations"), "violations": list(records)}


def violation_record(violation: Violation, index: int | None = None) -> ViolationRecord:
    """The violation in plain JSON values, with the index of its graph if it is given."""
    shape = None if violation.shape is None else list(violation.shape)
    record = {**dataclasses.asdict(violation), "shape": shape} | ({} if index is None else {"index": index})
    if not violation.name:
        del record["name"]
    return cast("ViolationRecord", record)


def find_violations(
    constraints: Sequence[Constraint],
    forward: GraphModule,
    backward: GraphModule | None = None,
    *,
    pre_aot: GraphModule | None = None,
) -> tuple[Violation, ...]:
    """All violations, in the order of the graphs' nodes; what is wrong with a graph as a whole after them.

    The same fault is reported once. A tensor that the forward saved is not checked again in the backward. What is found
    before AOTAutograd (pre-aot) is left out where the forward or the backward has a finding of the same rule, on the
    same line, about a tensor of the same dtype and shape. Rules about a whole graph check the forward and the
    backward only.
    """
    lowered = [*_violations(constraints, "forward", forward, _nodes(forward))]
    if backward is not None:
        lowered += find_backward_violations(constraints, forward, backward)
    if pre_aot is None:
        return tuple(lowered)
    known = set(map(_fault, lowered))
    before = _node_violations(constraints, "pre-aot", _nodes(pre_aot))
    return (*(each for each in before if _fault(each) not in known), *lowered)


def find_backward_violations(
    constraints: Sequence[Constraint], forward: GraphModule, backward: GraphModule
) -> tuple[Violation, ...]:
    """Those of the backward alone, as `find_violations` lists them after the forward's."""
    return tuple(_violations(constraints, "backward", backward, _nodes(backward, checked=_names(forward))))


def _violations(
    constraints: Sequence[Constraint], name: str, graph: GraphModule, nodes: Iterator[Node]
) -> Iterator[Violation]:
    yield from _node_violations(constraints, name, nodes)
    for constraint in constraints:
        yield from (dataclasses.replace(violation, graph=name) for violation in constraint.check_graph(graph))


def _node_violations(constraints: Sequence[Constraint], name: str, nodes: Iterator[Node]) -> Iterator[Violation]:
    for node in nodes:
        for constraint in constraints:
            yield from (dataclasses.replace(violation, graph=name) for violation in constraint.check(node))


def _fault(violation: Violation) -> tuple[object, ...]:
    """Equal for two records of one fault. The line of an input is left out: it can be another one after AOTAutograd."""
    place = violation.op if violation.op == "placeholder" else violation.source
    return violation.rule, place, violation.dtype, violation.shape


def _nodes(module: GraphModule, checked: frozenset[str] = frozenset()) -> Iterator[Node]:
    """The nodes to check, so that each tensor is checked once. Inputs of the backward that the forward saved, and
    inputs of a branch of `torch.cond`, were checked where they were made."""
    for part in module.modules():
        if not isinstance(part, GraphModule):
            continue
        for node in part.graph.nodes:
            if node.op != "placeholder" or (part is module and node.name not in checked):
                yield node


def _names(module: GraphModule) -> frozenset[str]:
    return frozenset(node.name for node in module.graph.nodes)
