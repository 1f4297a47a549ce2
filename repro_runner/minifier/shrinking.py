"""torch's own graph minifier, and what it needs around it: graphs that fail still fail when they are cut down."""

from __future__ import annotations

import contextlib
import copy
import io
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._functorch.fx_minifier import minifier
from torch.fx import GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

from repro_runner.minifier.function_source import as_function, switches_modes
from repro_runner.minifier.recipes import copy_of

Fails = Callable[[GraphModule, Sequence[torch.Tensor]], bool]


def shrink(
    graph: GraphModule, inputs: Sequence[torch.Tensor], fails: Fails
) -> tuple[GraphModule, list[torch.Tensor]] | None:
    """The smallest graph that the minifier finds to fail, where `graph` does; None if it can't deal with this one.

    It runs the graph once to know what each node gives. That may raise anything: a write into what is now a leaf that
    requires grad is refused, tensors of `vmap` mean nothing outside of it.
    """
    for mode in (torch.enable_grad(), torch.no_grad()):
        with mode, contextlib.suppress(Exception):
            return _shrunk(graph, inputs, fails)
    return None


def _shrunk(graph: GraphModule, inputs: Sequence[torch.Tensor], fails: Fails) -> tuple[GraphModule, list[torch.Tensor]]:
    quiet = io.StringIO()
    with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        smaller, left = minifier(graph, [copy_of(each) for each in inputs], fails, dump_state=lambda *_: None)
    return smaller, [copy_of(each) for each in left]


def to_aten(graph: GraphModule, inputs: Sequence[torch.Tensor]) -> tuple[GraphModule, list[torch.Tensor]] | None:
    """The same program as aten ops, its constants as further inputs; None where it can't be traced so."""
    try:
        # Cut short, a graph may switch a mode on and not off again; the function that is made of it can't.
        function = as_function(graph) if switches_modes(graph) else graph
        lowered = make_fx(function)(*(copy_of(each) for each in inputs))
    except Exception:  # noqa: BLE001 - a program that can't be traced this way stays as it is
        return None
    return lift_constants(lowered, inputs)


def lift_constants(graph: GraphModule, inputs: Sequence[torch.Tensor]) -> tuple[GraphModule, list[torch.Tensor]]:
    """The program with the tensors that it holds as further inputs: a script has them all in one place."""
    held = [node.name for node in graph.graph.nodes if isinstance(_held_by(graph, node), torch.Tensor)]
    if not held:
        return graph, list(inputs)
    lifted = GraphModule(graph, copy.deepcopy(graph.graph))
    nodes = {node.name: node for node in lifted.graph.nodes}
    *_, first = (node for node in reversed(lifted.graph.nodes) if node.op != "placeholder")
    for name in held:
        with lifted.graph.inserting_before(first):
            placeholder = lifted.graph.placeholder(f"{name}_value")
        nodes[name].replace_all_uses_with(placeholder)
        lifted.graph.erase_node(nodes[name])
    lifted.recompile()
    constants = [_held_by(graph, node) for node in graph.graph.nodes if node.name in held]
    return lifted, [*inputs, *constants]


def _held_by(graph: GraphModule, node: Node) -> Any:
    return operator.attrgetter(str(node.target))(graph) if node.op == "get_attr" else None
