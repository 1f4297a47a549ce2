"""The graphs of aten ops that torch.compile hands to a backend."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.utils import make_boxed_func
from torch._functorch.partitioners import default_partition
from torch.fx import GraphModule, Node
from torch.utils._pytree import tree_leaves


def traced(function: Callable[..., Any], arguments: tuple[Any, ...], **lowering: Any) -> dict[str, GraphModule]:
    """Forward and, where something requires grad, backward, in aten ops: what a backend is given."""
    graphs: dict[str, GraphModule] = {}

    def partition(joint: GraphModule, joint_inputs: Any, **keywords: Any) -> tuple[GraphModule, GraphModule]:
        forward, graphs["backward"] = default_partition(joint, joint_inputs, **keywords)
        return forward, graphs["backward"]

    def lower(graph: GraphModule, _inputs: Any) -> Any:
        graphs.setdefault("forward", graph)
        return make_boxed_func(graph.forward)

    backend = aot_autograd(
        fw_compiler=lower, bw_compiler=lower, partition_fn=partition, keep_inference_input_mutations=True, **lowering
    )
    torch.compile(function, backend=backend, fullgraph=True, dynamic=False)(*arguments)
    return graphs


def named(node: Node) -> str:
    return str(node.target) if node.op == "call_function" else node.op


def tensors_of(node: Node) -> list[torch.Tensor]:
    """What a node produces; what `getitem` picks was produced by the op before it."""
    values = [] if node.target is operator.getitem else tree_leaves(node.meta.get("val"))
    return [value for value in values if isinstance(value, torch.Tensor)]


def shown(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
