"""How much memory a forward or a backward needs at once, and the limit on it.

A storage is counted once, however many views of it there are, from the op that makes it to the last op that reads it
or a view of it; an op that writes into an argument makes none. The graph's outputs live to its end. So do its inputs,
which the caller holds, except what a backward alone has: the incoming gradients and what the forward saved for it are
released after their last use. What an op needs besides its arguments and results is not known, nor how an allocator
rounds. A dynamic size is the one that it had when the graph was compiled; one that depends on data counts as nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from torch.fx import GraphModule, Node

from repro_runner.constraints.base import GraphConstraint, ScriptText, Setting, Violation
from repro_runner.constraints.graph_inputs import input_name
from repro_runner.constraints.nodes import fake_tensors, op_name, plain_size, source_line, tensors_of
from repro_runner.torch_seams import has_storage

_HELD = "held by the caller"
_SHOWN = 3


class PeakMemoryConstraint(GraphConstraint):
    """A forward, and a backward, needs at most `max_bytes` at once, as `estimate_peak` estimates it."""

    rule: ClassVar[str] = "peak-memory"
    setting: ClassVar[Setting | None] = Setting(
        key="memory",
        field="max_memory_bytes",
        read=lambda file, node, key: file.size(node, key),
        variable="MOCK_MAX_PEAK_MEMORY",
    )

    def __init__(self, max_bytes: int) -> None:
        if max_bytes < 0:
            raise ValueError(f"max_bytes={max_bytes}: must not be negative")
        self.max_bytes = max_bytes

    def check_graph(self, graph: GraphModule) -> Iterator[Violation]:
        peak = estimate_peak(graph)
        if peak.bytes > self.max_bytes:
            largest = "; ".join(map(_describe_storage, peak.live[:_SHOWN]))
            yield self.violation(
                peak.at,
                f"the peak is {peak.bytes} bytes here, more than {self.max_bytes}; "
                f"{len(peak.live)} tensors are live, the largest: {largest}",
            )

    def script_text(self, _op: str, /) -> ScriptText:
        lines = (
            f"if (needed := peak_bytes(graph, forward)) > {self.max_bytes}:",
            f'    yield f"needs {{needed}} bytes, more than {self.max_bytes}"',
        )
        summary = f"no graph needs more than {self.max_bytes} bytes at once"
        return ScriptText(summary=summary, lines=lines, parts=("peak_bytes",))


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveStorage:
    """Memory that something in the graph uses, and the node that made it."""

    bytes: int
    maker: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class PeakMemory:
    """The moment at which a graph needs most memory."""

    bytes: int
    at: Node
    live: tuple[LiveStorage, ...]
    """Largest first. What a region inside the graph (a branch of `torch.cond`) needs for itself is in `bytes` alone."""


@dataclass(slots=True, kw_only=True)
class _Span:
    """A storage, and the positions of the first and the last node that need it."""

    bytes: int
    maker: Node
    first: int
    last: int


def estimate_peak(module: GraphModule) -> PeakMemory:
    """The most that the graph needs at once, by the rules above."""
    return _peak(module, inputs_count=True)


def note_held_inputs(forward: GraphModule, backward: GraphModule) -> None:
    """Mark the backward's inputs that the caller holds: a saved tensor can be a view of a parameter."""
    held = {key for node in _inputs(forward) for key, _ in storages(node)}
    for node in _inputs(backward):
        node.meta[_HELD] = any(key in held for key, _ in storages(node))


def _peak(module: GraphModule, *, inputs_count: bool) -> PeakMemory:
    nodes = list(module.graph.nodes)
    spans = _spans(module, nodes, inputs_count=inputs_count)
    change = [0] * (len(nodes) + 1)
    for span in spans:
        change[span.first] += span.bytes
        change[span.last + 1] -= span.bytes
    most, where, needed = 0, len(nodes) - 1, 0
    for position, node in enumerate(nodes):
        needed += change[position]
        if (now := needed + _needed_inside(module, node)) > most:
            most, where = now, position
    live = [LiveStorage(bytes=each.bytes, maker=each.maker) for each in spans if each.first <= where <= each.last]
    return PeakMemory(bytes=most, at=nodes[where], live=tuple(sorted(live, key=lambda each: -each.bytes)))


def _spans(module: GraphModule, nodes: list[Node], *, inputs_count: bool) -> list[_Span]:
    end = len(nodes) - 1
    position = {node: index for index, node in enumerate(nodes)}
    backward = any("tangents" in node.name for node in _inputs(module))
    spans: dict[int, _Span] = {}
    for node in nodes:
        given = node.op in ("placeholder", "get_attr")
        last = max((position[user] for user in node.users), default=position[node])
        if given and not (backward and _is_released(node)):
            last = end
        for key, size in storages(node):
            first = 0 if given else position[node]
            span = spans.setdefault(key, _Span(bytes=size, maker=node, first=first, last=last))
            span.last = max(span.last, last)
            if given and not inputs_count:
                span.bytes = 0
    return list(spans.values())


def _is_released(node: Node) -> bool:
    """Can a backward give this input's memory back? AOTAutograd calls the program's own inputs `primals`."""
    return node.op == "placeholder" and not node.meta.get(_HELD, "primals" in node.name)


def _needed_inside(module: GraphModule, node: Node) -> int:
    """The largest peak among the regions that a higher-order op calls, without their inputs and the op's results."""
    regions = [
        region
        for each in node.all_input_nodes
        if each.op == "get_attr" and isinstance(region := getattr(module, str(each.target), None), GraphModule)
    ]
    if not regions:
        return 0
    results = sum(size for _, size in storages(node))
    return max(0, *(_peak(region, inputs_count=False).bytes - results for region in regions))


def _inputs(module: GraphModule) -> Iterator[Node]:
    return (node for node in module.graph.nodes if node.op == "placeholder")


def storages(node: Node) -> Iterator[tuple[int, int]]:
    """The identity and size of each storage behind a node's value; a sparse tensor has none."""
    for tensor in fake_tensors(node):
        if has_storage(tensor):
            storage = tensor.untyped_storage()
            yield storage._cdata, plain_size(storage.nbytes()) or 0


def _describe_storage(live: LiveStorage) -> str:
    """`mm float32[4, 3] 48 bytes (model.py:7)`."""
    tensor = next(tensors_of(live.maker), None)
    what = input_name(live.maker) or op_name(live.maker)
    source = source_line(live.maker)
    shown = "" if tensor is None else f" {tensor}"
    return f"{what}{shown} {live.bytes} bytes{f' ({source})' if source else ''}"
