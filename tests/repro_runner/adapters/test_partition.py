"""A graph in parts: the device's parts as large as they can be, nothing out of turn, and every crossing counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.fx import GraphModule

from repro_runner.adapters import AcceleratorCapabilities, PartitionedGraph, Placement, Transfers, partition_graph
from repro_runner.adapters.op_support import Judge
from repro_runner.adapters.placement import place_graphs
from repro_runner.graphs import TracedGraph, trace_model
from repro_runner.model_under_test import ModelUnderTest

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    yield
    torch._dynamo.reset()


def traced(program: Callable[..., Any], *args: Any, **keywords: Any) -> TracedGraph:
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        (graph,) = trace_model(ModelUnderTest(name="model.py:program", model=program, args=args), **keywords).graphs
    return graph


def without(*ops: str) -> Judge:
    return Judge(AcceleratorCapabilities(unsupported_ops=ops).constraints())


def cut(graph: GraphModule, *ops: str) -> PartitionedGraph:
    return partition_graph(graph, without(*ops).takes)


def placed(graph: TracedGraph, *ops: str) -> list[Placement]:
    return list(place_graphs([graph], without(*ops)))


def calls(graph: PartitionedGraph) -> list[str]:
    """What the host calls, in its order."""
    return [str(node.target) for node in graph.module.graph.nodes if node.op in ("call_function", "call_module")]


# Parts.


def test_a_device_with_every_op_gets_one_part() -> None:
    graph = traced(lambda x: (x.sin() + 1).split(2), torch.ones(4))
    partitioned = cut(graph.forward)
    assert len(partitioned.parts) == 1
    assert partitioned.names == ("device_0",)
    assert [name for name in calls(partitioned) if "getitem" not in name] == ["device_0"]


def test_a_device_with_no_op_gets_none() -> None:
    graph = traced(lambda x: x.sin() + 1, torch.ones(4))
    partitioned = cut(graph.forward, "sin", "add")
    assert (partitioned.parts, calls(partitioned)) == ((), ["aten.sin.default", "aten.add.Tensor"])


def test_an_op_that_is_refused_falls_back_alone() -> None:
    graph = traced(lambda x: x.sin().cos().exp().tan(), torch.ones(4))
    partitioned = cut(graph.forward, "exp")
    assert partitioned.parts == (("sin", "cos"), ("tan",))
    assert calls(partitioned) == ["device_0", "aten.exp.default", "device_1"]


def test_independent_ops_share_a_part_around_a_refused_one() -> None:
    graph = traced(lambda x, y: x.sin().exp() + y.cos(), torch.ones(4), torch.ones(4))
    partitioned = cut(graph.forward, "exp")
    assert {op for part in partitioned.parts for op in part} == {"sin", "cos", "add"}
    assert len(partitioned.parts) == 2


def test_the_graph_itself_stays_as_it_was() -> None:
    graph = traced(lambda x: x.sin().exp(), torch.ones(4))
    before = graph.forward.code
    cut(graph.forward, "exp")
    assert graph.forward.code == before


def test_what_getitem_picks_stays_with_what_was_picked_from() -> None:
    graph = traced(lambda x: x.sin().split(2)[1].cos(), torch.ones(4))
    assert calls(cut(graph.forward, "split")) == [
        "device_0",
        "aten.split.Tensor",
        "<built-in function getitem>",
        "device_1",
    ]
    parts = cut(graph.forward, "cos").parts
    assert parts == (("sin", "split", "getitem"),) or parts == (("sin", "split", "getitem_1"),)


def test_arithmetic_on_sizes_cuts_no_part() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        found = torch.nonzero(x)
        return torch.zeros(found.shape[0] * 2).cos()

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        graph = traced(program, torch.ones(4))
    assert any("sym_size" in str(node.target) for node in graph.forward.graph.nodes)
    assert len(cut(graph.forward).parts) == 1
    assert len(cut(graph.forward, "nonzero").parts) == 1


def test_no_part_has_sizes_alone() -> None:
    graph = traced(lambda x: x.reshape(x.shape[0] * 2).cos(), torch.ones(4, 2), dynamic=True)
    assert cut(graph.forward, "view", "cos").parts == ()


def test_a_higher_order_op_and_its_branches_are_one_op() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,)).exp()  # type: ignore[no-any-return]

    graph = traced(program, torch.ones(3))
    assert len(cut(graph.forward).parts) == 1
    assert calls(cut(graph.forward))[0] == "device_0"
    partitioned = cut(graph.forward, "sin")
    assert [name for name in calls(partitioned) if "getitem" not in name] == ["device_0", "cond", "device_1"]


# Order.


def numbers(graph: PartitionedGraph, *inputs: torch.Tensor) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return list(graph.module(*inputs))


def test_random_numbers_are_drawn_in_turn_whatever_falls_back() -> None:
    """The device's part needs what the host draws, and so would come second; it has the first draw in it."""

    def program(x: torch.Tensor) -> torch.Tensor:
        first = torch.bernoulli(x)
        second = torch.rand_like(x)
        return first + second

    x = torch.full((64,), 0.5)
    forward = traced(program, x).forward
    torch.manual_seed(0)
    expected = program(x)
    for refused in ([], ["rand_like"], ["bernoulli"], ["bernoulli", "rand_like"], ["add"]):
        (found,) = numbers(cut(forward, *refused), x)
        torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert cut(forward, "rand_like").parts == (("bernoulli",), ("add",)), "cut in two to keep the turn"
    assert cut(forward).parts == (("bernoulli", "rand_like", "add"),), "and only then"


def test_an_input_is_overwritten_after_everybody_has_read_it() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.sin().exp()
        x.mul_(2)
        return y + x.cos()

    for refused in ([], ["exp"], ["mul"], ["sin"], ["cos", "add"]):
        x, other = torch.ones(4), torch.ones(4)
        partitioned = cut(traced(program, x).forward, *refused)
        assert "aten.copy_.default" in calls(partitioned)
        torch.testing.assert_close(partitioned.module(x)[0], program(other))
        torch.testing.assert_close(x, other)


# Transfers. A float32[8, 4] has 128 bytes, a float32[4, 4] 64.


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + y


@pytest.fixture(scope="module")
def inference() -> TracedGraph:
    with torch.no_grad():
        return traced(Layer(), torch.ones(8, 4), torch.ones(8, 4))


@pytest.mark.parametrize(
    ("refused", "transfers"),
    [
        # x and y in, the sum out.
        ([], Transfers(to_device=2, bytes_to_device=256, to_host=1, bytes_to_host=128)),
        # The product out, relu's result in.
        (["relu"], Transfers(to_device=3, bytes_to_device=384, to_host=2, bytes_to_host=256)),
        # y never leaves the host.
        (["relu", "add"], Transfers(to_device=1, bytes_to_device=128, to_host=1, bytes_to_host=128)),
        (["add"], Transfers(to_device=1, bytes_to_device=128, to_host=1, bytes_to_host=128)),
        # Weight and bias live on the host, where they are used.
        (["t", "addmm"], Transfers(to_device=2, bytes_to_device=256, to_host=1, bytes_to_host=128)),
        # The bias lives on the device, the weight on the host; its transpose goes over.
        (["t"], Transfers(to_device=3, bytes_to_device=320, to_host=1, bytes_to_host=128)),
        (["t", "addmm", "relu", "add"], Transfers()),
    ],
)
def test_each_tensor_that_crosses_is_counted(inference: TracedGraph, refused: list[str], transfers: Transfers) -> None:
    (placement,) = placed(inference, *refused)
    assert placement.transfers == transfers
    assert placement.least_transfers == Transfers(to_device=2, bytes_to_device=256, to_host=1, bytes_to_host=128)
    assert placement.ops_on_device + placement.ops_fallen_back == 4
    assert placement.ops_fallen_back == len(refused)


def test_what_stays_on_the_device_between_forward_and_backward_does_not_cross() -> None:
    graph = traced(Layer(), torch.ones(8, 4), torch.ones(8, 4))
    forward, backward = placed(graph)
    assert forward.transfers == Transfers(to_device=2, bytes_to_device=256, to_host=1, bytes_to_host=128)
    # The incoming gradient; those of weight and bias stay with them.
    assert backward.transfers == Transfers(to_device=1, bytes_to_device=128)
    x = torch.ones(8, 4, requires_grad=True)
    assert placed(traced(Layer(), x, torch.ones(8, 4)))[1].transfers == Transfers(
        to_device=1, bytes_to_device=128, to_host=1, bytes_to_host=128
    ), "x is the caller's, and so is its gradient"


def test_what_crossed_in_the_forward_is_there_in_the_backward() -> None:
    """The backward of sin needs x, which the forward brought to the device; that of exp needs exp's result."""

    def program(x: torch.Tensor) -> torch.Tensor:
        return x.sin().exp()

    graph = traced(program, torch.ones(8, 4, requires_grad=True))
    forward, backward = placed(graph)
    assert (forward.transfers.to_device, forward.transfers.to_host) == (1, 1)
    assert (backward.transfers.to_device, backward.transfers.to_host) == (1, 1)
    # cos(x) on the host: x is there, too. Its product with the gradient goes over.
    forward, backward = placed(graph, "cos")
    assert (backward.transfers.to_device, backward.transfers.to_host) == (2, 1)


def test_a_tensor_that_several_parts_need_crosses_once() -> None:
    graph = traced(lambda x: (x.sin().exp() * x).exp() * x, torch.ones(8, 4))
    (placement,) = placed(graph, "exp")
    assert len(placement.parts) == 3
    # x and two results of exp in; two arguments of exp and the answer out.
    assert (placement.transfers.to_device, placement.transfers.to_host) == (3, 3)


def test_what_the_model_writes_into_an_input_goes_back_to_the_host_and_a_buffer_stays() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        x.mul_(2)
        return x.sin()

    (placement,) = placed(traced(program, torch.ones(8, 4)))
    assert placement.transfers == Transfers(to_device=1, bytes_to_device=128, to_host=2, bytes_to_host=256)
    assert (placement.ops_on_device, placement.ops_fallen_back) == (2, 0), "writing back is a transfer, not an op"

    forward, _ = placed(traced(torch.nn.BatchNorm1d(4), torch.ones(8, 4)))
    assert forward.transfers == Transfers(to_device=1, bytes_to_device=128, to_host=1, bytes_to_host=128)


def test_item_reads_from_the_device_and_a_size_that_depends_on_data_counts_no_bytes() -> None:
    graph = traced(lambda x: torch.zeros(x.sum().long().item()), torch.ones(8, 4))
    assert "aten._local_scalar_dense.default" in calls(cut(graph.forward))
    (placement,) = placed(graph)
    assert placement.transfers == Transfers(to_device=1, bytes_to_device=128, to_host=2, bytes_to_host=8)
    assert placement.ops_fallen_back == 0


def test_constants_are_on_both_sides_from_the_beginning() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x + torch.tensor([1.0, 2.0, 3.0, 4.0])

    (placement,) = placed(traced(program, torch.ones(8, 4)))
    assert placement.transfers.to_device == 1


def test_a_dynamic_size_counts_as_it_was_when_compiled() -> None:
    (placement,) = placed(traced(lambda x: x.sin(), torch.ones(8, 4), dynamic=True))
    assert placement.transfers == Transfers(to_device=1, bytes_to_device=128, to_host=1, bytes_to_host=128)


def test_a_placement_says_what_is_where() -> None:
    (placement,) = placed(traced(lambda x: x.sin().cos().exp().sin(), torch.ones(8, 4)), "exp")
    assert placement.parts == ({"aten.cos.default": 1, "aten.sin.default": 1}, {"aten.sin.default": 1})
    assert placement.fallen_back == {"aten.exp.default": 1}
    assert (placement.index, placement.graph) == (0, "forward")
    assert placement.peak_bytes >= 256
