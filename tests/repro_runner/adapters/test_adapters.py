"""A device as a backend: it computes what eager does, forward and backward, whatever falls back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.fx import GraphModule, Node

from repro_runner import AcceleratorAdapter, AcceleratorCapabilities, IntegratedMockAdapter
from repro_runner.adapters import OpRule
from repro_runner.backends import ConstraintViolations, MalformedSettings, collect_violations
from repro_runner.constraints import Constraint, Violation, op_name
from repro_runner.graphs import trace_model
from repro_runner.model_under_test import ModelUnderTest

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def fresh_dynamo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Block(torch.nn.Module):
    """Parameters, buffers, dropout in two branches, a tuple, an input that is written into."""

    def __init__(self) -> None:
        super().__init__()
        self.left = torch.nn.Linear(8, 8)
        self.right = torch.nn.Linear(8, 8)
        self.norm = torch.nn.BatchNorm1d(8)

    def forward(self, x: torch.Tensor, *, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x.mul_(0.5)
        left = torch.nn.functional.dropout(self.left(x), 0.3)
        right = torch.nn.functional.dropout(self.right(y).sin(), 0.4)
        first, second = torch.split(self.norm(left * right), 4, dim=1)
        return (first @ second.T).softmax(-1), torch.nn.functional.dropout(left.cos() + right, 0.1)


def trained(model: Callable[..., Any]) -> list[torch.Tensor]:
    """Results, gradients, and what the model changed."""
    assert isinstance(model, torch.nn.Module)
    torch.manual_seed(0)
    x, y = torch.randn(6, 8), torch.randn(6, 8, requires_grad=True)
    outputs = model(x, y=y)
    sum(output.square().sum() for output in outputs).backward()
    assert y.grad is not None
    gradients = [parameter.grad for parameter in model.parameters()]
    return [*outputs, x, y.grad, *(each for each in gradients if each is not None), *model.buffers()]


@pytest.mark.parametrize(
    ("capabilities", "decompositions"),
    [
        ({}, "none"),
        ({"unsupported_ops": ["native_dropout", "sin", "mm"]}, "none"),
        ({"unsupported_ops": ["native_batch_norm_backward", "split", "addmm", "native_dropout_backward"]}, "none"),
        ({"supported_ops": ["core-aten"], "unsupported_ops": ["permute", "sum", "native_dropout"]}, "core-aten"),
        ({"supported_ops": []}, "none"),
        ({"rules": [OpRule(ops=["mm", "addmm"], arguments=["mat2"], dims=[0], alignment=8)]}, "none"),
        ({"requires_contiguous": True}, "none"),
    ],
)
def test_a_model_trains_as_in_eager_whatever_falls_back(capabilities: dict[str, Any], decompositions: str) -> None:
    model = Block()
    adapter = IntegratedMockAdapter(AcceleratorCapabilities(**capabilities), decompositions=decompositions)
    compiled = torch.compile(copy.deepcopy(model), backend=adapter.backend, fullgraph=True)
    expected = trained(copy.deepcopy(model))
    found = trained(compiled)
    assert len(found) == len(expected)
    for ours, eagers in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, eagers)


class MyDevice(AcceleratorAdapter):
    """What somebody else writes: its own rule, its own compiler."""

    def __init__(self) -> None:
        self.compiled: list[list[str]] = []
        self.shapes: list[list[tuple[int, ...]]] = []
        self.ran = 0

    def get_capabilities(self) -> AcceleratorCapabilities:
        return AcceleratorCapabilities(name="mine", unsupported_ops=["exp"])

    def constraints(self) -> tuple[Constraint, ...]:
        return *super().constraints(), NoCosine()

    def compile(self, part: GraphModule, example_inputs: Sequence[Any]) -> Callable[..., Any]:
        ops = [op_name(node) for node in part.graph.nodes if node.op == "call_function"]
        self.compiled.append([op for op in ops if op != "aten.detach.default"])
        self.shapes.append([tuple(each.shape) for each in example_inputs])

        def run(*inputs: Any) -> Any:
            self.ran += 1
            return part(*inputs)

        return run


class NoCosine(Constraint):
    rule = "no-cosine"

    def check(self, node: Node) -> Iterator[Violation]:
        if op_name(node) == "aten.cos.default":
            yield self.violation(node, "no cosine here")


def test_ones_own_device_compiles_the_parts_that_it_takes_and_they_run() -> None:
    device = MyDevice()

    def program(x: torch.Tensor) -> torch.Tensor:
        return (x.sin() + 1).exp().tan()

    compiled = torch.compile(program, backend=device)
    x = torch.ones(2, 3, requires_grad=True)
    answer = compiled(x)
    assert device.compiled[:2] == [["aten.sin.default", "aten.add.Tensor"], ["aten.tan.default"]]
    assert device.shapes[:2] == [[(2, 3)], [(2, 3)]]
    forward_parts = device.ran
    assert forward_parts == 2
    (gradient,) = torch.autograd.grad(answer.sum(), x)
    assert device.ran > forward_parts, "the backward runs on it, too"
    assert not any("aten.cos.default" in ops or "aten.exp.default" in ops for ops in device.compiled)
    torch.testing.assert_close(answer, program(x))
    torch.testing.assert_close(gradient, *torch.autograd.grad(program(x).sum(), x))
    parts = len(device.compiled)
    compiled(x)
    assert len(device.compiled) == parts, "compiled once, run again"


def test_ones_own_rule_holds_in_the_list_of_ops_and_in_the_parts() -> None:
    device = MyDevice()
    graphs = trace_model(ModelUnderTest(name="x", model=lambda x: x.sin().cos().exp(), args=(torch.ones(3),))).graphs
    ops = {op.op: [reason.rule for reason, _ in op.reasons] for op in device.op_support(graphs)}
    assert ops == {
        "aten.cos.default": ["no-cosine"],
        "aten.exp.default": ["unsupported-op"],
        "aten.sin.default": [],
    }
    assert device.partition(graphs[0].forward).parts == (("sin",),)


@pytest.mark.parametrize("check_backward", [True, None], ids=["with the forward", "when it runs"])
def test_strict_refuses_everything_at_once_or_the_backward_when_it_runs(check_backward: bool | None) -> None:
    lacking = ["permute", "cos"] + ["sin"] * bool(check_backward)
    adapter = IntegratedMockAdapter(
        AcceleratorCapabilities(unsupported_ops=lacking),
        strict=True,
        check_backward=check_backward,
        decompositions="core-aten",
    )

    def program(x: torch.Tensor) -> torch.Tensor:
        return x.t().sin()

    with collect_violations() as found, pytest.raises(ConstraintViolations) as refused:
        torch.compile(program, backend=adapter)(torch.ones(2, 3, requires_grad=True))
    assert list(refused.value.violations) == found
    expected = {("aten.permute.default", "forward")}
    if check_backward:
        backward = {("aten.cos.default", "backward"), ("aten.permute.default", "backward")}
        expected |= {("aten.sin.default", "forward")} | backward
    assert {(each.op, each.graph) for each in found} == expected
    if not check_backward:
        x = torch.ones(3, requires_grad=True)
        answer = torch.compile(torch.sin, backend=adapter)(x)
        with pytest.raises(ConstraintViolations, match=r"aten\.cos\.default.*backward"):
            torch.autograd.grad(answer.sum(), x)
    torch.compile(torch.tan, backend=adapter)(torch.ones(3))


def test_without_capabilities_it_has_the_mock_backends_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_ALIGNMENT", "4")
    adapter = IntegratedMockAdapter(strict=True)
    assert adapter.get_capabilities().name == "mock"
    with pytest.raises(ConstraintViolations, match="not a multiple of 4"):
        torch.compile(torch.sin, backend=adapter)(torch.ones(3))
    monkeypatch.setenv("MOCK_ALIGNMENT", "no")
    with pytest.raises(MalformedSettings, match="MOCK_ALIGNMENT"):
        adapter.constraints()


def test_a_device_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    path.write_text("unsupported_ops: [sin]\n", "utf-8")
    adapter = IntegratedMockAdapter.from_file(path, strict=True)
    assert adapter.get_capabilities().name == "mine"
    with pytest.raises(ConstraintViolations, match="this device has no such op"):
        torch.compile(torch.sin, backend=adapter)(torch.ones(3))


@pytest.mark.parametrize(("dynamic", "graphs"), [(True, 1), (None, 2)])
@pytest.mark.parametrize("refused", [[], ["relu", "clone"]])
def test_dynamic_shapes_run_in_parts_and_recompile_no_more_than_usual(
    dynamic: bool | None, graphs: int, refused: list[str]
) -> None:
    """As often as torch's own backends do: once for every size, or once more where sizes turn out to change."""
    adapter = IntegratedMockAdapter(
        AcceleratorCapabilities(unsupported_ops=refused, max_tensor_bytes=2**20, layouts=["strided"])
    )
    compilations = 0

    def counting(graph: GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        nonlocal compilations
        compilations += 1
        return adapter(graph, inputs)

    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.cat([torch.matmul(x, w).relu(), x[:, 1:]], dim=1).transpose(0, 1).reshape(-1).sin()

    compiled = torch.compile(program, backend=counting, dynamic=dynamic, fullgraph=True)
    for rows in (4, 5, 6, 15, 16):
        x, w = torch.randn(rows, rows + 2, requires_grad=True), torch.randn(rows + 2, 3)
        answer, expected = compiled(x, w), program(x, w)
        torch.testing.assert_close(answer, expected)
        torch.testing.assert_close(torch.autograd.grad(answer.sum(), x), torch.autograd.grad(expected.sum(), x))
    assert compilations == graphs
