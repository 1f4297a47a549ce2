"""Count the tensors that cross between host and device when a model's graphs run in parts.

The caller's tensors come from the host, and its results go there. Parameters and buffers that a part uses live on the
device, their gradients with them; what the forward saves for the backward stays where it is. From the beginning of a
forward to the end of its backward a tensor crosses once in a direction: after that it is on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import torch
from torch._functorch._aot_autograd.descriptors import (
    BufferAOTInput,
    GradAOTOutput,
    InputMutationAOTOutput,
    ParamAOTInput,
    PlainAOTInput,
    SavedForBackwardsAOTOutput,
)
from torch.fx import GraphModule, Node

from repro_runner.constraints.nodes import is_move, is_op, tensors_of
from repro_runner.graphs import TracedGraph

DEVICE, HOST = "device", "host"
_Places = dict[str, set[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfers:
    """Tensors that cross, and their bytes. A size that depends on data is not known, and counts as no bytes."""

    to_device: int = 0
    to_host: int = 0
    bytes_to_device: int = 0
    bytes_to_host: int = 0

    def __add__(self, other: Transfers) -> Transfers:
        return Transfers(
            to_device=self.to_device + other.to_device,
            to_host=self.to_host + other.to_host,
            bytes_to_device=self.bytes_to_device + other.bytes_to_device,
            bytes_to_host=self.bytes_to_host + other.bytes_to_host,
        )


def count_transfers(traced: TracedGraph, on_device: Collection[str]) -> tuple[Transfers, Transfers]:
    """Of the forward and of the backward; `on_device` names the nodes of both that the device runs."""
    resident = _resident(traced, on_device)
    places: _Places = {}
    forward = _crossings(traced.forward, on_device, resident, places)
    backward = Transfers() if traced.backward is None else _crossings(traced.backward, on_device, resident, places)
    return forward, backward


def everything_on_device(traced: TracedGraph) -> frozenset[str]:
    """What `on_device` is for a device that lacks nothing."""
    graphs = [traced.forward] if traced.backward is None else [traced.forward, traced.backward]
    return frozenset(node.name for graph in graphs for node in graph.graph.nodes if node.op == "call_function")


def _crossings(
    graph: GraphModule, on_device: Collection[str], resident: Collection[object], places: _Places
) -> Transfers:
    """Note in `places` where each tensor is, as the graph runs."""
    total = Transfers()
    for node in graph.graph.nodes:
        for needed, side in _needs(node, on_device, resident):
            if side not in places[needed.name]:
                places[needed.name].add(side)
                total += _crossing(needed, side)
        if node.op == "placeholder":
            # What the forward saved has its place already.
            places.setdefault(node.name, {DEVICE if node.meta.get("desc") in resident else HOST})
        elif node.op == "get_attr":
            places[node.name] = {DEVICE, HOST}
        else:
            places[node.name] = {DEVICE if node.name in on_device else HOST}
    return total


def _needs(node: Node, on_device: Collection[str], resident: Collection[object]) -> Iterator[tuple[Node, str]]:
    """Each tensor that a node needs, and on which side."""
    if node.op == "output":
        values = node.args[0] if isinstance(node.args[0], (tuple, list)) else (node.args[0],)
        for value, description in zip(values, node.meta.get("desc") or [None] * len(values), strict=True):
            if _is_a_tensor(value) and not isinstance(description, SavedForBackwardsAOTOutput):
                yield value, DEVICE if _belongs_to(description) in resident else HOST
    elif is_move(node):
        target, value = node.all_input_nodes[0], node.all_input_nodes[-1]
        written_into = None if target is value else target.meta.get("desc")
        yield value, DEVICE if written_into in resident else HOST
    elif is_op(node):
        side = DEVICE if node.name in on_device else HOST
        yield from ((given, side) for given in node.all_input_nodes if _is_a_tensor(given))


def _resident(traced: TracedGraph, on_device: Collection[str]) -> frozenset[object]:
    """The descriptions of the parameters and buffers that a part uses, forward or backward."""
    inputs = [node for node in traced.pre_aot.graph.nodes if node.op == "placeholder"]
    users: dict[str, set[str]] = {}
    for graph in (traced.forward, traced.backward):
        for node in graph.graph.nodes if graph is not None else ():
            if node.op == "placeholder":
                users.setdefault(node.name, set()).update(user.name for user in node.users if not is_move(user))
    return frozenset(
        node.meta["desc"]
        for node in traced.forward.graph.nodes
        if node.op == "placeholder"
        and _is_parameter(node.meta.get("desc"), inputs)
        and not users[node.name].isdisjoint(on_device)
    )


def _is_parameter(description: object, inputs: list[Node]) -> bool:
    """A parameter or a buffer; Dynamo marks those among the inputs, since they keep their address."""
    if isinstance(description, PlainAOTInput):
        return "_dynamo_static_input_type" in inputs[description.idx].meta.get("tensor_dict", {})
    return isinstance(description, (ParamAOTInput, BufferAOTInput))


def _belongs_to(output: object) -> object:
    """The input that an output is the gradient, or the new value, of."""
    if isinstance(output, GradAOTOutput):
        return output.grad_of
    return output.mutated_input if isinstance(output, InputMutationAOTOutput) else None


def _crossing(node: Node, side: str) -> Transfers:
    size = sum(_dense_bytes(tensor.sizes, tensor.dtype) for tensor in tensors_of(node))
    return Transfers(to_device=1, bytes_to_device=size) if side == DEVICE else Transfers(to_host=1, bytes_to_host=size)


def _dense_bytes(sizes: tuple[int | None, ...], dtype: torch.dtype) -> int:
    return 0 if None in sizes else math.prod(size or 0 for size in sizes) * dtype.itemsize


def _is_a_tensor(value: object) -> bool:
    return isinstance(value, Node) and isinstance(value.meta.get("val"), torch.Tensor)
