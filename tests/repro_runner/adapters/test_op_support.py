"""The list of a model's ops: each counted, with its dtypes and lines, and refused for the right reasons."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from repro_runner.adapters import (
    AcceleratorCapabilities,
    OpRule,
    OpSupport,
    StaticShapesConstraint,
    SupportedOpsConstraint,
)
from repro_runner.adapters.op_support import Judge, list_op_support
from repro_runner.constraints import Violation, find_violations
from repro_runner.graphs import TracedGraph, trace_model
from repro_runner.graphs.traced import decomposition_table
from repro_runner.model_under_test import ModelUnderTest

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    yield
    torch._dynamo.reset()


def traced(program: Callable[..., Any], *args: Any, **keywords: Any) -> tuple[TracedGraph, ...]:
    return trace_model(ModelUnderTest(name="model.py:program", model=program, args=args), **keywords).graphs


def listed(graphs: tuple[TracedGraph, ...], **capabilities: Any) -> dict[str, OpSupport]:
    device = AcceleratorCapabilities(**capabilities)
    return {op.op: op for op in list_op_support(graphs, Judge(device.constraints()))}


def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.matmul(x, w.t()).relu()
    return y.to(torch.float16).sin() + y.sin()


@pytest.fixture(scope="module")
def graphs() -> tuple[TracedGraph, ...]:
    return traced(product, torch.randn(4, 6, requires_grad=True), torch.randn(3, 6))


def reasons(op: OpSupport) -> list[tuple[str, str, int]]:
    return [(reason.rule, reason.message, count) for reason, count in op.reasons]


def test_an_op_is_counted_forward_and_backward_with_its_dtypes_and_lines(graphs: tuple[TracedGraph, ...]) -> None:
    first = inspect.getsourcelines(product)[1] + 1
    ops = listed(graphs)
    assert ops["aten.sin.default"] == OpSupport(
        op="aten.sin.default",
        forward=2,
        backward=0,
        dtypes=("float16", "float32"),
        sources=(f"{__file__}:{first + 1}",),
        refused=0,
        reasons=(),
    )
    assert (ops["aten.mm.default"].forward, ops["aten.mm.default"].backward) == (1, 1)
    assert ops["aten.mm.default"].sources == (f"{__file__}:{first}",)
    assert ops["aten.cos.default"].backward == 2
    assert all(op.supported for op in ops.values())
    assert "placeholder" not in ops
    assert all(name.startswith("aten.") for name in ops), "getitem and the like are not work for a device"


@pytest.mark.parametrize(
    ("capabilities", "op", "refused", "why"),
    [
        ({"unsupported_ops": ["sin"]}, "sin", 2, ("unsupported-op", "this device has no such op", 2)),
        ({"supported_ops": ["mm", "t"]}, "sin", 2, ("unsupported-op", "this device has no such op", 2)),
        ({"supported_dtypes": ["float32", "bool"]}, "sin", 1, ("dtype", "float16 is not one of bool, float32", 1)),
        ({"supported_dtypes": ["float16"]}, "mm", 2, ("dtype", "float32 is not one of float16", 2)),
        (
            {"alignment_requirement": 4},
            "relu",
            1,
            ("shape-alignment", "dimension 1 is 3: not a multiple of 4 elements", 1),
        ),
        ({"max_tensor_bytes": 48}, "mm", 2, ("memory", "takes 96 bytes, more than 48", 1)),
        ({"requires_contiguous": True}, "t", 2, ("layout", "strides (1, 6) are not contiguous", 1)),
        (
            {"rules": [OpRule(ops=["mm"], arguments=["mat2"], alignment=8, dims=[0])]},
            "mm",
            2,
            ("shape-alignment", "argument mat2: dimension 0 is 6: not a multiple of 8 elements", 1),
        ),
        (
            {"rules": [OpRule(ops=["sin"], dtypes=["float32"])]},
            "sin",
            1,
            ("dtype", "float16 is not one of float32", 1),
        ),
    ],
)
def test_an_op_is_refused_for_the_limit_that_it_breaks(
    graphs: tuple[TracedGraph, ...], capabilities: dict[str, Any], op: str, refused: int, why: tuple[str, str, int]
) -> None:
    found = listed(graphs, **capabilities)[f"aten.{op}.default"]
    assert (found.refused, found.supported) == (refused, False)
    assert why in reasons(found)


def test_what_the_device_can_not_hold_it_can_not_be_given(graphs: tuple[TracedGraph, ...]) -> None:
    """A cast to a dtype that the device has, of a tensor that it can't hold."""
    ops = listed(graphs, supported_dtypes=["float16"])
    assert reasons(ops["aten.mm.default"]) == [("dtype", "float32 is not one of float16", 2)], "told once"
    assert reasons(ops["aten._to_copy.default"]) == [
        ("dtype", "an argument: float32 is not one of float16", 2),
        ("dtype", "float32 is not one of float16", 1),
    ]


def test_refused_ops_come_first_then_the_frequent_ones(graphs: tuple[TracedGraph, ...]) -> None:
    ops = list(listed(graphs, unsupported_ops=["relu"]).values())
    assert ops[0].op == "aten.relu.default"
    assert [op.count for op in ops[1:]] == sorted((op.count for op in ops[1:]), reverse=True)


def test_a_decomposition_table_changes_which_ops_there_are() -> None:
    inputs = (torch.randn(4, 6), torch.randn(3, 6))

    def ops_after(table: Any) -> set[str]:
        return set(listed(traced(product, *inputs, decompositions=table)))

    assert ops_after(decomposition_table("none")) >= {"aten.t.default", "aten._to_copy.default"}
    core = ops_after(decomposition_table("core-aten"))
    assert core >= {"aten.permute.default", "aten._to_copy.default"}
    assert "aten.t.default" not in core
    assert "prims.convert_element_type.default" in ops_after(decomposition_table("inductor"))
    own = {torch.ops.aten.relu.default: lambda x: torch.ops.aten.clamp.default(x, 0)}
    assert "aten.clamp.default" in ops_after(own)
    with pytest.raises(ValueError, match="coreaten: no such decomposition table; there are none, core-aten, inductor"):
        decomposition_table("coreaten")


def test_a_device_with_the_core_ops_takes_what_decomposes_into_them() -> None:
    graphs = traced(product, torch.randn(4, 6), torch.randn(3, 6), decompositions=decomposition_table("core-aten"))
    assert all(op.supported for op in listed(graphs, supported_ops=["core-aten"]).values())
    ops = listed(graphs, supported_ops=["core-aten"], unsupported_ops=["sin"])
    assert [name for name, op in ops.items() if not op.supported] == ["aten.sin.default"]


def test_a_branch_is_part_of_its_op() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))  # type: ignore[no-any-return]

    ops = listed(traced(program, torch.ones(3)), unsupported_ops=["cos"])
    assert {name for name, op in ops.items() if not op.supported} == {"aten.cos.default", "higher_order.cond"}
    assert reasons(ops["higher_order.cond"]) == [
        ("unsupported-op", "aten.cos.default in it: this device has no such op", 1)
    ]
    assert listed(traced(program, torch.ones(3)), supported_ops=["sum", "gt", "sin", "cos"])[
        "higher_order.cond"
    ].refused


# Dynamic shapes.


def entering(program: Callable[..., Any], *args: Any, dynamic: bool | None) -> list[Violation]:
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        graphs = traced(program, *args, dynamic=dynamic)
    return [each for one in graphs for each in find_violations([StaticShapesConstraint()], one.forward, one.backward)]


def joined(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, y]).reshape(-1).relu()


def test_a_dynamic_dimension_is_told_once_where_it_enters() -> None:
    found = entering(joined, torch.ones(4, 2, requires_grad=True), torch.ones(5, 2), dynamic=True)
    assert [(each.op, each.graph) for each in found if each.graph == "forward"] == [("placeholder", "forward")] * 2
    assert all("dimension 0 is s" in each.message and "takes static shapes only" in each.message for each in found)
    assert entering(joined, torch.ones(4, 2, requires_grad=True), torch.ones(5, 2), dynamic=False) == []


def test_a_shape_that_depends_on_data_is_told_where_it_arises() -> None:
    found = entering(lambda x: torch.nonzero(x).sum(1) * 2, torch.ones(4), dynamic=False)
    assert [(each.op, each.message) for each in found] == [
        ("aten.nonzero.default", "dimension 0 is u0: this device takes static shapes only")
    ]


def test_every_op_on_a_dynamic_shape_is_refused() -> None:
    graphs = traced(joined, torch.ones(4, 2), torch.ones(5, 2), dynamic=True)
    ops = listed(graphs, supports_dynamic_shapes=False)
    assert {op.op for op in ops.values() if op.refused} == {
        "aten.cat.default",
        "aten.view.default",
        "aten.relu.default",
    }
    assert all(op.supported for op in listed(graphs).values())


def test_the_ops_that_a_device_has_are_named_like_those_it_lacks() -> None:
    assert SupportedOpsConstraint(["mm", "aten::relu", torch.ops.aten.add.Tensor, "mylib.op"]).ops == {
        "aten.mm",
        "aten.relu",
        "aten.add.Tensor",
        "mylib.op",
    }
    with pytest.raises(ValueError, match=r"aten\.relux: no such op; did you mean aten\.relu"):
        AcceleratorCapabilities(supported_ops=["relux"])
    with pytest.raises(TypeError, match="must be a list"):
        AcceleratorCapabilities(supported_ops="mm")
