"""Gradients inside a graph, seen from outside: a zero that is added to a value has the gradient of that value as its
own. So zeros are added to operands of ops and to their results; they are further inputs of the graph."""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from repro_runner.diff.graph_ops import OpsOfGraph, Place, Slot

T = TypeVar("T")
Spot = tuple[Node, Node, Place]
"""Where a zero is added: to what a node takes of another, for the nth time; or to its own result, or an item of it."""


def operands_of(node: Node) -> list[Spot]:
    """A spot for each time that a node takes another, in order."""
    times = Counter[Node]()
    spots: list[Spot] = []

    def note(taken: Node) -> Node:
        spots.append((node, taken, (times[taken],)))
        times[taken] += 1
        return taken

    map_arg((node.args, node.kwargs), note)
    return spots


def slot_of(node: Node, ops: OpsOfGraph) -> Slot:
    """The tensor that a node stands for: its own result, or the item that it picks of another's."""
    if not ops.picks_an_item(node):
        return node, ()
    source, item = node.args
    if not isinstance(source, Node) or not isinstance(item, int) or item < 0:
        return node, ()
    maker, place = slot_of(source, ops)
    return maker, (*place, item)


def in_turn(operands: Iterable[T]) -> Callable[[Node], T]:
    """A function for `map_arg` that gives one after the other, in the order of `operands_of`."""
    left = iter(operands)
    return lambda _taken: next(left)


def with_zeros(ops: OpsOfGraph, spots: Sequence[Spot], shown: Sequence[Node] = ()) -> GraphModule:
    """The graph with a further input for each spot, and a sum where it is added. A spot may be named more than once.
    It returns copies of the values that are `shown`, too."""
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
        taken = in_turn([plus_zeros(copies[spot[1]], spot) for spot in operands_of(node)])
        if node.op == "output":
            values = (graph.call_method("detach", (copies[each],)) for each in shown)
            more = [graph.call_method("clone", (value,)) for value in values]
            graph.output((*map_arg(node.args[0], taken), *more))
            continue
        copies[node] = graph.node_copy(node, taken)
        maker, place = slot_of(node, ops)
        copies[node] = plus_zeros(copies[node], (maker, maker, place))
    return copy.deepcopy(GraphModule(ops.graph, graph))  # a compiler may change what the graph refers to
