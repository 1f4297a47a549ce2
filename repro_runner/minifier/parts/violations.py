"""Does an op, an input or the whole of a traced graph still break the rule? And what rules measure with.

A script has the functions that it needs, with what these call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves

from repro_runner.minifier.parts.tracing import named, traced


def check_violation(
    function: Callable[..., Any],
    inputs: Callable[[], tuple[Any, ...]],
    complaints: Callable[[Node], Iterator[str]],
    *,
    graph: str,
    op: str,
    **lowering: Any,
) -> tuple[int, str]:
    whole = traced(function, inputs(), **lowering).get(graph)
    parts = [part for part in whole.modules() if isinstance(part, GraphModule)] if whole is not None else []
    for node in (node for part in parts for node in part.graph.nodes if named(node) == op):
        for complaint in complaints(node):
            return 1, f"{op} of the {graph} graph: {complaint}"
    return 0, f"no {op} of the {graph} graph breaks the rule"


def check_graph_violation(
    function: Callable[..., Any],
    inputs: Callable[[], tuple[Any, ...]],
    complaints: Callable[[GraphModule, GraphModule], Iterator[str]],
    *,
    graph: str,
    **lowering: Any,
) -> tuple[int, str]:
    graphs = traced(function, inputs(), **lowering)
    for complaint in complaints(graphs[graph], graphs["forward"]) if graph in graphs else ():
        return 1, f"the {graph} graph: {complaint}"
    return 0, f"the {graph} graph does not break the rule"


def check_input_violation(
    function: Callable[..., Any],
    inputs: Callable[[], tuple[Any, ...]],
    complaints: Callable[[Node], Iterator[str]],
    *,
    graph: str,
    **lowering: Any,
) -> tuple[int, str]:
    graphs = traced(function, inputs(), **lowering)
    # What the backward takes over from the forward is the forward's.
    others = {node.name for node in graphs["forward"].graph.nodes} if graph == "backward" else set()
    for node in graphs[graph].graph.nodes if graph in graphs else ():
        for complaint in complaints(node) if node.op == "placeholder" and node.name not in others else ():
            return 1, f"an input of the {graph} graph: {complaint}"
    return 0, f"no input of the {graph} graph breaks the rule"


def arguments_of(node: Node, *chosen: str | int) -> list[torch.Tensor]:
    """Those at these places, by name or position, of the op that the node calls."""
    schema = getattr(node.target, "_schema", None)
    names = [each.name for each in schema.arguments] if schema is not None else [""] * len(node.args)
    found: list[torch.Tensor] = []
    for place, name in enumerate(names):
        given = node.args[place] if place < len(node.args) else node.kwargs.get(name)
        if place in chosen or name in chosen:
            nodes = [each for each in tree_leaves(given) if isinstance(each, Node)]
            found += [value for each in nodes for value in tree_leaves(each.meta.get("val"))]
    return [value for value in found if isinstance(value, torch.Tensor)]


def storages(node: Node) -> dict[int, int]:
    """The memory that a node's tensors lie in, by its identity, and its bytes."""
    tensors = [value for value in tree_leaves(node.meta.get("val")) if isinstance(value, torch.Tensor)]
    memory = [tensor.untyped_storage() for tensor in tensors if tensor.layout == torch.strided]
    return {each._cdata: each.nbytes() for each in memory}


def peak_bytes(graph: GraphModule, forward: GraphModule) -> int:
    """A storage counts from the op that makes it to the last that reads it or a view of it; the program's own inputs,
    which the caller holds, from the beginning to the end."""
    nodes = list(graph.graph.nodes)
    place = {node: index for index, node in enumerate(nodes)}
    held = {key for node in forward.graph.nodes if node.op == "placeholder" for key in storages(node)}
    spans: dict[int, tuple[int, int, int]] = {}
    for node in nodes:
        is_input = node.op in ("placeholder", "get_attr")
        is_held = node.op == "get_attr" or (is_input and any(key in held for key in storages(node)))
        last = len(nodes) - 1 if is_held else max((place[user] for user in node.users), default=place[node])
        for key, size in storages(node).items():
            first, until, _ = spans.get(key, (0 if is_input else place[node], 0, 0))
            spans[key] = first, max(until, last), size
    return max(sum(size for first, last, size in spans.values() if first <= at <= last) for at in place.values())
