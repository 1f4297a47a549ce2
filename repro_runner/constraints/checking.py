"""Every constraint on every node of what was traced, before any of it is lowered."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from torch.fx import GraphModule, Node

from repro_runner.constraints.base import Constraint, Violation


def find_violations(
    constraints: Sequence[Constraint], forward: GraphModule, backward: GraphModule | None = None
) -> tuple[Violation, ...]:
    """All violations, in the order of the graphs' nodes."""
    found = list(_violations(constraints, "forward", _nodes(forward)))
    if backward is not None:
        found += _violations(constraints, "backward", _nodes(backward, checked=_names(forward)))
    return tuple(found)


def _violations(constraints: Sequence[Constraint], graph: str, nodes: Iterator[Node]) -> Iterator[Violation]:
    for node in nodes:
        for constraint in constraints:
            for violation in constraint.check(node):
                yield dataclasses.replace(violation, graph=graph)


def _nodes(module: GraphModule, checked: frozenset[str] = frozenset()) -> Iterator[Node]:
    """Each tensor once: the backward's inputs that the forward saved, and the inputs of a branch of `torch.cond`, were
    checked where they were made."""
    for part in module.modules():
        if not isinstance(part, GraphModule):
            continue
        for node in part.graph.nodes:
            if node.op != "placeholder" or (part is module and node.name not in checked):
                yield node


def _names(module: GraphModule) -> frozenset[str]:
    return frozenset(node.name for node in module.graph.nodes)
