"""What is in a graph, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypedDict

import torch
from torch.fx import GraphModule, Node

from repro_runner.constraints.nodes import fake_tensors, op_name, picks_from_a_tuple, source_line, traced_tensors
from repro_runner.constraints.peak_memory import estimate_peak, storages
from repro_runner.torch_seams import pytree


class GraphDescription(TypedDict, total=False):
    """One graph in numbers: an entry of `graphs` in graph.json."""

    nodes: int
    ops: dict[str, int]
    dtypes: dict[str, int]
    inputs: int
    outputs: int
    inputs_bytes: int
    peak_bytes: int
    """This and the next two are known only after AOTAutograd."""
    peak_op: str
    peak_source: str


def describe_graph(graph: GraphModule, *, lowered: bool) -> GraphDescription:
    """Count nodes, ops, dtypes and bytes. Before AOTAutograd (not `lowered`) one op can stand for many, so that no peak
    is estimated."""
    nodes = list(_all_nodes(graph))
    calls = [op_name(node) for node in nodes if node.op.startswith("call_") and not picks_from_a_tuple(node)]
    dtypes = [str(tensor.dtype).removeprefix("torch.") for node in nodes for tensor in traced_tensors(node)]
    inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
    found: GraphDescription = {
        "nodes": len(nodes),
        "ops": _counted(calls),
        "dtypes": _counted(dtypes),
        "inputs": len(inputs),
        "outputs": sum(isinstance(leaf, Node) for leaf in pytree.tree_leaves(graph.graph.output_node().args[0])),
        "inputs_bytes": _bytes(inputs),
    }
    if lowered:
        peak = estimate_peak(graph)
        found |= {"peak_bytes": peak.bytes, "peak_op": op_name(peak.at), "peak_source": source_line(peak.at)}
    return found


def parameters_bytes(pre_aot: GraphModule) -> int:
    """Bytes of the model's parameters among the inputs; only Dynamo's graph knows which inputs these are."""
    given = [node for node in pre_aot.graph.nodes if node.op in ("placeholder", "get_attr")]
    return _bytes([node for node in given if any(isinstance(each, torch.nn.Parameter) for each in fake_tensors(node))])


def _all_nodes(graph: GraphModule) -> Iterator[Node]:
    """The nodes of the graph, and of the regions inside it."""
    for part in graph.modules():
        if isinstance(part, GraphModule):
            yield from part.graph.nodes


def _bytes(nodes: list[Node]) -> int:
    return sum({key: size for node in nodes for key, size in storages(node)}.values())


def _counted(names: list[str]) -> dict[str, int]:
    """Most frequent first, then by name."""
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))
