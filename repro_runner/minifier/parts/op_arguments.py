"""The tensors that an op is given."""

from __future__ import annotations

import torch
from torch.fx import Node
from torch.utils._pytree import tree_leaves


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
