"""A backend with a fault: it runs every graph as it is, but what activations return is one per cent too large."""

import operator
from collections.abc import Callable
from typing import Any

from torch.fx import GraphModule

ACTIVATIONS = ("gelu", "relu", "silu", "tanh", "sigmoid", "softmax")


def backend(graph: GraphModule, _inputs: Any, **_: Any) -> Callable[..., Any]:
    for node in list(graph.graph.nodes):
        if getattr(node.target, "__name__", node.target) in ACTIVATIONS:
            with graph.graph.inserting_after(node):
                wrong = graph.graph.call_function(operator.mul, (node, 1.01))
            node.replace_all_uses_with(wrong, delete_user_cb=lambda user, made=wrong: user is not made)
    graph.recompile()
    return graph.forward
