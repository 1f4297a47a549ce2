"""Where the ops of a model's graphs run on a device that lacks some, and what goes back and forth because of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch.fx import GraphModule

from repro_runner.adapters.op_support import Judge
from repro_runner.adapters.partition import PartitionedGraph, partition_graph
from repro_runner.adapters.transfers import Transfers, count_transfers, everything_on_device
from repro_runner.constraints import estimate_peak, op_name
from repro_runner.constraints.nodes import is_move, is_op
from repro_runner.graphs import TracedGraph


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """One forward or backward, cut into parts."""

    index: int
    """Of the graph, in the order in which they ran first."""
    graph: str
    """`forward` or `backward`."""
    parts: tuple[dict[str, int], ...]
    """Per part that the device runs: how often it has each op."""
    fallen_back: dict[str, int]
    """Per op: how often the host runs it."""
    transfers: Transfers
    least_transfers: Transfers
    """If the device had every op."""
    peak_bytes: int
    """The most that the whole graph holds at once, wherever it runs, as `estimate_peak` estimates it."""

    @property
    def ops_on_device(self) -> int:
        return sum(sum(part.values()) for part in self.parts)

    @property
    def ops_fallen_back(self) -> int:
        return sum(self.fallen_back.values())


def place_graphs(graphs: Sequence[TracedGraph], judge: Judge) -> tuple[Placement, ...]:
    """Cut every forward and backward, and count."""
    return tuple(placement for index, traced in enumerate(graphs) for placement in _placed(index, traced, judge))


def _placed(index: int, traced: TracedGraph, judge: Judge) -> Iterator[Placement]:
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
