"""The peak of a forward and of a backward: as estimated, and as measured by running the graph op by op."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.fx import GraphModule, Interpreter, Node
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from repro_runner.backends import ConstraintViolations, mock_backend
from repro_runner.constraints import (
    GraphConstraint,
    PeakMemoryConstraint,
    Violation,
    estimate_peak,
    find_violations,
    op_name,
)
from repro_runner.constraints.nodes import plain_size
from repro_runner.graphs.traced import TracedGraph
from tests.repro_runner.fixtures.traced_programs import AttentionBlock, traced

pytestmark = pytest.mark.torch


class LiveStorages(TorchDispatchMode):
    """Sums the storages that are alive after each op that really runs; a branch of `torch.cond` runs under it, too."""

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.peak = 0
        self._alive: dict[int, tuple[Any, int]] = {}

    def note(self, value: Any) -> None:
        for tensor in tree_leaves(value):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                reference = StorageWeakRef(storage)  # type: ignore[no-untyped-call]
                self._alive[storage._cdata] = (reference, storage.nbytes())
        self._alive = {key: (ref, size) for key, (ref, size) in self._alive.items() if not ref.expired()}
        self.peak = max(self.peak, sum(size for _, size in self._alive.values()))

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if op is torch.ops.higher_order.cond:
            chosen = args[1] if args[0] else args[2]
            with self:
                return Interpreter(chosen).run(*args[3])
        result = op(*args, **(kwargs or {}))
        self.note(result)
        return result


def inputs_like(graph: GraphModule) -> list[Any]:
    """Real inputs; those that share memory in the traced program share it here."""
    memory: dict[int, torch.Tensor] = {}
    inputs: list[Any] = []
    for node in graph.graph.find_nodes(op="placeholder"):
        value = node.meta["val"]
        if not isinstance(value, torch.Tensor):
            inputs.append(plain_size(value))
            continue
        storage = value.untyped_storage()
        whole = memory.setdefault(storage._cdata, torch.zeros(plain_size(storage.nbytes()) or 0, dtype=torch.uint8))
        sizes, strides = (
            [plain_size(each) or 0 for each in value.shape],
            [plain_size(each) or 0 for each in value.stride()],
        )
        inputs.append(whole.view(value.dtype).as_strided(sizes, strides))
    return inputs


def measured_peak(traced: TracedGraph, graph: GraphModule) -> int:
    """As a caller runs it: a forward's inputs stay, and what was saved for a backward goes once it was read."""
    inputs = inputs_like(graph)
    callers = {memory_of(node) for node in traced.forward.graph.find_nodes(op="placeholder")}
    nodes = graph.graph.find_nodes(op="placeholder")
    held = [value for node, value in zip(nodes, inputs, strict=True) if memory_of(node) in callers]
    live = LiveStorages()
    with live:
        live.note(inputs)
        result = Interpreter(graph).boxed_run(inputs)
    del held, result  # not before: they are what the caller has all along, and in the end
    return live.peak


def memory_of(node: Node) -> Any:
    value = node.meta["val"]
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


def deep() -> torch.nn.Module:
    layers = [layer for _ in range(5) for layer in (torch.nn.Linear(64, 64), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers)


def convolutions() -> torch.nn.Module:
    layers = torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2)
    return torch.nn.Sequential(*layers, torch.nn.Conv2d(8, 16, 3))


def views(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return (x.expand(16, -1, -1) * 2).transpose(1, 2).reshape(-1).chunk(4)


def writes(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    x.mul_(2)
    return (x @ w).relu()


def branches(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > -1, lambda y: (y @ y).sin() @ y, lambda y: y.cos(), (x,))  # type: ignore[no-any-return]


def grown(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, requires_grad=True)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], bool]] = {
    "attention": (AttentionBlock(), (grown(2, 16, 32),), False),
    "attention over a long text": (AttentionBlock(), (grown(2, 200, 32),), False),
    "a deep net": (deep(), (torch.randn(32, 64),), False),
    "a deep net, dynamic": (deep(), (torch.randn(32, 64),), True),
    "convolutions": (convolutions(), (torch.randn(4, 3, 16, 16),), False),
    "views": (views, (grown(1, 32, 32),), False),
    "writes into its input": (writes, (torch.ones(16, 16), grown(16, 16)), False),
    "inference": (writes, (torch.ones(16, 16), torch.ones(16, 16)), True),
    "a branch": (branches, (torch.ones(16, 16),), False),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_estimate_is_what_running_the_graph_needs(name: str) -> None:
    """To the byte: the same storages, born and dropped at the same ops."""
    program, inputs, dynamic = PROGRAMS[name]
    graph = traced(program, inputs, dynamic=dynamic)
    assert estimate_peak(graph.forward).bytes == measured_peak(graph, graph.forward)
    needs_grad = isinstance(program, torch.nn.Module) or any(each.requires_grad for each in inputs)
    assert (graph.backward is not None) == needs_grad
    if graph.backward is not None:
        assert estimate_peak(graph.backward).bytes == measured_peak(graph, graph.backward)


def test_it_names_the_op_and_what_is_live_there_largest_first() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        wide = x.expand(100, 10) * 2
        return wide.sum(0) + 1

    peak = estimate_peak(traced(program, [torch.ones(1, 10)]).forward)
    assert (op_name(peak.at), peak.bytes) == ("aten.sum.dim_IntList", 4000 + 40 + 40)
    assert [(each.bytes, op_name(each.maker)) for each in peak.live] == [
        (4000, "aten.mul.Tensor"),
        (40, "placeholder"),
        (40, "aten.sum.dim_IntList"),
    ]


def test_a_size_that_depends_on_data_counts_as_nothing() -> None:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        graph = traced(lambda x: torch.nonzero(x) * 2, [torch.ones(8)])
    assert estimate_peak(graph.forward).bytes == 8 * 4


# As a limit.


def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.matmul(x, w).relu()


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_the_limit_fires_above_the_peak_and_not_at_it_forward_and_backward(dynamic: bool) -> None:
    graph = traced(product, (grown(4, 6), grown(6, 3)), dynamic=dynamic)
    assert graph.backward is not None
    forward, backward = estimate_peak(graph.forward).bytes, estimate_peak(graph.backward).bytes
    assert forward != backward

    def refused(max_bytes: int) -> dict[str, Violation]:
        found = find_violations([PeakMemoryConstraint(max_bytes)], graph.forward, graph.backward)
        assert len(found) == len({each.graph for each in found}), "one violation per graph"
        return {each.graph: each for each in found}

    larger = "forward" if forward > backward else "backward"
    assert refused(max(forward, backward)) == {}
    assert refused(max(forward, backward) - 1).keys() == {larger}
    found = refused(min(forward, backward) - 1)
    assert found.keys() == {"forward", "backward"}
    assert found["forward"].message.startswith(
        f"the peak is {forward} bytes here, more than {min(forward, backward) - 1};"
    )


def test_the_message_says_where_the_peak_is_and_what_is_live() -> None:
    graph = traced(product, (torch.ones(4, 6), torch.ones(6, 3)))
    (found,) = find_violations([PeakMemoryConstraint(0)], graph.forward)
    line = f"{__file__}:{product.__code__.co_firstlineno + 1}"
    assert str(found) == (
        f"{line}: aten.relu.default: the peak is 264 bytes here, more than 0; 4 tensors are live, the largest: "
        f"input x float32[4, 6] 96 bytes ({line}); input w float32[6, 3] 72 bytes ({line}); "
        f"aten.mm.default float32[4, 3] 48 bytes ({line}) (peak-memory, forward)"
    )


def test_the_environment_sets_it_next_to_the_limit_per_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    inputs = torch.ones(4, 6), torch.ones(6, 3)
    for limit, rules in (("264", set()), ("263", {"peak-memory"})):
        monkeypatch.setenv("MOCK_MAX_PEAK_MEMORY", limit)
        torch._dynamo.reset()
        found: set[str] = set()
        try:
            torch.compile(product, backend=mock_backend)(*inputs)
        except ConstraintViolations as refused:
            found = {each.rule for each in refused.violations}
        assert found == rules
    torch._dynamo.reset()


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="max_bytes=-1"):
        PeakMemoryConstraint(-1)


class FewOps(GraphConstraint):
    """A rule about a whole graph, of one's own."""

    rule = "few-ops"

    def check_graph(self, graph: GraphModule) -> Iterator[Violation]:
        calls: list[Node] = [node for node in graph.graph.nodes if node.op == "call_function"]
        if len(calls) > 1:
            yield self.violation(calls[-1], f"{len(calls)} ops")


def test_a_rule_about_a_whole_graph_looks_at_the_forward_and_the_backward() -> None:
    graph = traced(product, (grown(4, 6), grown(6, 3)))
    found = find_violations([FewOps()], graph.forward, graph.backward, pre_aot=graph.pre_aot)
    assert [(each.graph, each.rule) for each in found] == [("forward", "few-ops"), ("backward", "few-ops")]
