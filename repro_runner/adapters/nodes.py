"""Which nodes of a graph of aten ops are work for a device, and which are not."""

from __future__ import annotations

import operator

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.fx import GraphModule, Node

from repro_runner.constraints.nodes import fake_tensors


def is_op(node: Node) -> bool:
    """It computes with tensors; arithmetic on sizes, and what only looks at a tensor's size, does not."""
    if isinstance(node.target, OpOverload):
        return not node.target._schema.name.startswith("aten::sym_") and _touches_tensors(node)
    return isinstance(node.target, HigherOrderOperator)


def is_move(node: Node) -> bool:
    """It only brings a result home: AOTAutograd's write into an input that the model changed, and `item()`."""
    if node.target is torch.ops.aten._local_scalar_dense.default:
        return True
    if node.target is not torch.ops.aten.copy_.default:
        return False
    return isinstance(node.args[0], Node) and node.args[0].op == "placeholder"


def is_random(node: Node) -> bool:
    """It draws from the generator, so that its turn among all that do matters."""
    if isinstance(node.target, OpOverload):
        return torch.Tag.nondeterministic_seeded in node.target.tags
    regions = [region for each in node.all_input_nodes if (region := branch(each)) is not None]
    return any(is_random(inner) for region in regions for inner in region.graph.nodes)


def picks_from(node: Node) -> Node | None:
    """The op that made the tuple which this node picks from; None if it picks from nothing."""
    if node.target is operator.getitem and isinstance(node.args[0], Node):
        return picks_from(node.args[0]) or node.args[0]
    return None


def branch(node: Node) -> GraphModule | None:
    """The graph that an operand of a higher-order op stands for."""
    if node.op != "get_attr" or node.graph.owning_module is None:
        return None
    value = getattr(node.graph.owning_module, str(node.target), None)
    return value if isinstance(value, GraphModule) else None


def _touches_tensors(node: Node) -> bool:
    return any(True for touched in (node, *node.all_input_nodes) for _ in fake_tensors(touched))
