"""How much memory a graph needs at once."""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves


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
