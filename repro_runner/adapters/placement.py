"""Where the ops of a model's graphs run on a device that lacks some, and what goes back and forth because of it.

The caller's tensors come from the host, and its results go there. Parameters and buffers that a part uses live on the
device, their gradients with them; what the forward saves for the backward stays where it is. From the beginning of a
forward to the end of its backward a tensor crosses once in a direction: after that it is on both sides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

import torch
from torch.fx import GraphModule, Node

from repro_runner.adapters.op_support import Judge
from repro_runner.adapters.partition import PartitionedGraph, partition_graph
from repro_runner.constraints import estimate_peak, op_name
from repro_runner.constraints.nodes import is_move, is_op, tensors_of
from repro_runner.graphs import TracedGraph
from repro_runner.torch_seams import aot_descriptors

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
        theirs = asdict(other)
        return Transfers(**{name: count + theirs[name] for name, count in asdict(self).items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """One forward or backward, cut into parts."""

    index: int
    """The number of the graph, in the order of their first runs."""
    graph: str
    """`forward` or `backward`."""
    parts: tuple[dict[str, int], ...]
    """Per part that the device runs: how often it has each op."""
    fallen_back: dict[str, int]
    """Per op: how often the host runs it."""
    transfers: Transfers
    least_transfers: Transfers
    """The transfers if the device had every op."""
    peak_bytes: int
    """The most that the whole graph holds at once, wherever it runs, as `estimate_peak` estimates it."""

    @property
    def ops_on_device(self) -> int:
        return sum(sum(part.values()) for part in self.parts)

    @property
    def ops_fallen_back(self) -> int:
        return sum(self.fallen_back.values())


class PartitionRecord(TypedDict):
    """All graphs of a model, cut for a device: the key `partition` of op_support.json."""

    partitions: int
    ops_on_device: int
    ops_fallen_back: int
    transfers: dict[str, int]
    least_transfers: dict[str, int]
    graphs: list[dict[str, Any]]


def partition_record(placements: Sequence[Placement]) -> PartitionRecord:
    """The placements in plain JSON values."""
    return {
        "partitions": sum(len(each.parts) for each in placements),
        "ops_on_device": sum(each.ops_on_device for each in placements),
        "ops_fallen_back": sum(each.ops_fallen_back for each in placements),
        "transfers": asdict(sum((each.transfers for each in placements), Transfers())),
        "least_transfers": asdict(sum((each.least_transfers for each in placements), Transfers())),
        "graphs": [
            {
                "index": each.index,
                "graph": each.graph,
                "partitions": [{"ops": part} for part in each.parts],
                "fallen_back": each.fallen_back,
                "transfers": asdict(each.transfers),
                "least_transfers": asdict(each.least_transfers),
                "peak_bytes": each.peak_bytes,
            }
            for each in placements
        ],
    }


def place_graphs(graphs: Sequence[TracedGraph], judge: Judge) -> tuple[Placement, ...]:
    """Cut every forward and backward into parts, and count ops and transfers."""
    return tuple(placement for index, traced in enumerate(graphs) for placement in _place_graph(index, traced, judge))


def _place_graph(index: int, traced: TracedGraph, judge: Judge) -> Iterator[Placement]:
    graphs = {"forward": traced.forward, "backward": traced.backward}
    cut = {name: partition_graph(graph, judge.takes) for name, graph in graphs.items() if graph is not None}
    on_device = {name for each in cut.values() for part in each.parts for name in part}
    transfers = count_transfers(traced, on_device)
    least = count_transfers(traced, everything_on_device(traced))
    for (name, partitioned), crossing, at_least in zip(cut.items(), transfers, least, strict=False):
        graph = graphs[name]
        assert graph is not None
        yield Placement(
            index=index,
            graph=name,
            transfers=crossing,
            least_transfers=at_least,
            peak_bytes=estimate_peak(graph).bytes,
            parts=tuple(_counted(graph, part) for part in partitioned.parts),
            fallen_back=_counted(graph, _on_host(graph, partitioned)),
        )


def _on_host(graph: GraphModule, partitioned: PartitionedGraph) -> list[str]:
    on_device = {name for part in partitioned.parts for name in part}
    return [node.name for node in graph.graph.nodes if node.name not in on_device and not is_move(node)]


def _counted(graph: GraphModule, names: Sequence[str]) -> dict[str, int]:
    nodes = {node.name: node for node in graph.graph.nodes}
    counts = Counter(op_name(nodes[name]) for name in names if is_op(nodes[name]))
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def count_transfers(traced: TracedGraph, on_device: Collection[str]) -> tuple[Transfers, Transfers]:
    """Transfers of the forward and of the backward; `on_device` names the nodes of both that the device runs."""
    resident = _resident(traced, on_device)
    places: _Places = {}
    forward = _count_crossings(traced.forward, on_device, resident, places)
    backward = (
        Transfers() if traced.backward is None else _count_crossings(traced.backward, on_device, resident, places)
    )
    return forward, backward


def everything_on_device(traced: TracedGraph) -> frozenset[str]:
    """The value of `on_device` for a device that has every op."""
    graphs = [traced.forward] if traced.backward is None else [traced.forward, traced.backward]
    return frozenset(node.name for graph in graphs for node in graph.graph.nodes if node.op == "call_function")


def _count_crossings(
    graph: GraphModule, on_device: Collection[str], resident: Collection[object], places: _Places
) -> Transfers:
    """Follow the graph as it runs: note in `places` where each tensor is, and count what crosses."""
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
            if _is_a_tensor(value) and not isinstance(description, aot_descriptors.SavedForBackwardsAOTOutput):
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
    if isinstance(description, aot_descriptors.PlainAOTInput):
        return "_dynamo_static_input_type" in inputs[description.idx].meta.get("tensor_dict", {})
    return isinstance(description, (aot_descriptors.ParamAOTInput, aot_descriptors.BufferAOTInput))


def _belongs_to(output: object) -> object:
    """The input that an output is the gradient, or the new value, of."""
    if isinstance(output, aot_descriptors.GradAOTOutput):
        return output.grad_of
    return output.mutated_input if isinstance(output, aot_descriptors.InputMutationAOTOutput) else None


def _crossing(node: Node, side: str) -> Transfers:
    size = sum(_dense_bytes(tensor.sizes, tensor.dtype) for tensor in tensors_of(node))
    return Transfers(to_device=1, bytes_to_device=size) if side == DEVICE else Transfers(to_host=1, bytes_to_host=size)


def _dense_bytes(sizes: tuple[int | None, ...], dtype: torch.dtype) -> int:
    return 0 if None in sizes else math.prod(size or 0 for size in sizes) * dtype.itemsize


def _is_a_tensor(value: object) -> bool:
    return isinstance(value, Node) and isinstance(value.meta.get("val"), torch.Tensor)
