"""The graph that Dynamo makes, before AOTAutograd: torch's own functions and methods of tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves


def traced(function: Callable[..., Any], arguments: tuple[Any, ...], **_lowering: Any) -> dict[str, GraphModule]:
    """What torch.compile hands to a backend, before AOTAutograd makes aten ops of it."""
    graphs: dict[str, GraphModule] = {}

    def backend(graph: GraphModule, _examples: Any) -> Any:
        graphs["pre-aot"] = graph
        return graph.forward

    torch.compile(function, backend=backend, fullgraph=True, dynamic=False)(*arguments)
    return graphs


def named(node: Node) -> str:
    """`Tensor.view`, `torch.nn.functional.relu`."""
    if node.op == "call_method":
        return f"Tensor.{node.target}"
    if node.op != "call_function" or isinstance(node.target, torch._ops.OpOverload | torch._ops.HigherOrderOperator):
        return str(node.target) if node.op == "call_function" else node.op
    module = getattr(node.target, "__module__", None) or "torch"
    return f"{module}.{getattr(node.target, '__name__', '')}".lstrip("._")


def tensors_of(node: Node) -> list[torch.Tensor]:
    """What a node produces; what `getitem` picks from a tuple was produced by the op before it."""
    source = node.args[0].meta.get("example_value") if node.args and isinstance(node.args[0], Node) else None
    picked = node.target is operator.getitem and not isinstance(source, torch.Tensor)
    values = [] if picked else tree_leaves(node.meta.get("example_value"))
    return [value for value in values if isinstance(value, torch.Tensor)]


def shown(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
