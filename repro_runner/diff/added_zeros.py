"""Gradients inside a graph, seen from outside: a zero that is added to a value has the gradient of that value as its
own. So zeros are added to operands of ops and to their results; they are further inputs of the graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import torch
from torch.fx import Graph, GraphModule, Node

from repro_runner.diff.graph_ops import OpsOfGraph, Place, Slot

Spot = tuple[Node, Node, Place]
"""Where a zero is added: to an operand of a node, which another yields; or to its own result, or an item of it."""


def slot_of(node: Node, ops: OpsOfGraph) -> Slot:
    """The tensor that a node stands for: its own result, or the item that it picks of another's."""
    if not ops.picks_an_item(node):
        return node, ()
    source, item = node.args
    if not isinstance(source, Node) or not isinstance(item, int) or item < 0:
        return node, ()
    maker, place = slot_of(source, ops)
    return maker, (*place, item)


def with_zeros(ops: OpsOfGraph, spots: Sequence[Spot]) -> GraphModule:
    """The graph with a further input for each spot, and a sum where it is added. A spot may be named more than once."""
    graph = Graph()
    copies: dict[Node, Node] = {}
    for node in ops.graph.graph.find_nodes(op="placeholder"):
        copies[node] = graph.node_copy(node)
    added: dict[Spot, list[Node]] = defaultdict(list)
    for at, spot in enumerate(spots):
        added[spot].append(graph.placeholder(f"zero_{at}"))

    def plus_zeros(value: Node, spot: Spot) -> Node:
        for zero in added.get(spot, ()):
            value = graph.call_function(torch.add, (value, zero))
        return value

    for node in ops.graph.graph.nodes:
        if node.op == "placeholder":
            continue
        operands = {each: plus_zeros(copies[each], (node, each, ())) for each in node.all_input_nodes}
        copies[node] = graph.node_copy(node, operands.__getitem__)
        maker, place = slot_of(node, ops)
        copies[node] = plus_zeros(copies[node], (maker, maker, place))
    return GraphModule(ops.graph, graph)
