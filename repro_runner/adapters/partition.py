"""Cut a graph into parts that a device runs and ops that fall back to the host, each one by one.

The parts are torch's own CapabilityBasedPartitioner's. It knows of data that flows from node to node, not of the order
in which random numbers are drawn; where that order would change, parts are cut further.
"""

from __future__ import annotations

import bisect
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner, Partition
from torch.fx.passes.operator_support import create_op_support

from repro_runner.constraints.nodes import branch, is_move, is_op, is_random, tuple_maker

PREFIX = "device_"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionedGraph:
    """A graph in which each part for the device is a submodule `device_0`, `device_1` …, called like an op."""

    module: GraphModule
    parts: tuple[tuple[str, ...], ...]
    """Per part the names of the original graph's nodes."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the submodules, in the order of `parts`."""
        return tuple(f"{PREFIX}{number}" for number in range(len(self.parts)))


def partition_graph(graph: GraphModule, supported: Callable[[Node], bool]) -> PartitionedGraph:
    """Cut a copy of the graph; `supported` is asked about ops only."""
    found = _cut_graph(graph, supported)
    if _random_ops(found.module) == _random_ops(graph):
        return found
    return _cut_graph(graph, supported, [place for place, node in enumerate(graph.graph.nodes) if is_random(node)])


def _cut_graph(graph: GraphModule, supported: Callable[[Node], bool], fences: Sequence[int] = ()) -> PartitionedGraph:
    cut = GraphModule(graph, copy.deepcopy(graph.graph))
    support = create_op_support(lambda _, node: _may_run_on_device(node, supported))
    partitioner = CapabilityBasedPartitioner(cut, support, allows_single_node_partition=True)
    positions = {node: position for position, node in enumerate(cut.graph.nodes)}
    proposed = partitioner.propose_partitions()
    parts = [part for whole in proposed for part in _between_fences(whole, positions, fences)]
    parts.sort(key=lambda part: positions[next(iter(part.nodes))])
    names = tuple(tuple(node.name for node in part.nodes) for part in parts)
    return PartitionedGraph(module=partitioner.fuse_partitions(parts, prefix=PREFIX), parts=names)


def _may_run_on_device(node: Node, supported: Callable[[Node], bool]) -> bool:
    if (made_by := tuple_maker(node)) is not None:
        return _may_run_on_device(made_by, supported)
    if branch(node) is not None:
        return all(_may_run_on_device(user, supported) for user in node.users)
    # A node without users is there for its effect: it writes into an input, on the host.
    if node.op != "call_function" or not node.users or is_move(node):
        return False
    # Arithmetic on sizes goes where it is needed; on the host it would cut parts in two.
    return not is_op(node) or supported(node)


def _between_fences(part: Partition, positions: dict[Node, int], fences: Sequence[int]) -> Iterator[Partition]:
    """Cut a part at every fence that it crosses, so that random ops keep their order. Pieces with only arithmetic on
    sizes are left to the host."""
    pieces: dict[int, list[Node]] = {}
    for node in sorted(part.nodes, key=positions.__getitem__):
        pieces.setdefault(bisect.bisect_right(fences, positions[node]), []).append(node)
    for nodes in pieces.values():
        if any(map(is_op, nodes)):
            yield Partition(nodes=nodes)


def _random_ops(module: GraphModule) -> list[str]:
    """In the order in which they run."""
    found: list[str] = []
    for node in module.graph.nodes:
        if node.op == "call_module":
            part = module.get_submodule(str(node.target))
            found += _random_ops(part) if isinstance(part, GraphModule) else []
        elif is_random(node):
            found.append(node.name)
    return found
