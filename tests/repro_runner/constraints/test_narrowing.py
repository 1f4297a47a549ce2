"""A limit narrowed to some ops, to some of their arguments, to some dimensions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch

from repro_runner.constraints import (
    Constraint,
    DtypeConstraint,
    LayoutConstraint,
    MemoryConstraint,
    ShapeConstraint,
    TensorConstraint,
    TracedTensor,
    Violation,
    find_violations,
)
from repro_runner.graphs.traced import TracedGraph
from tests.repro_runner.fixtures.traced_programs import traced

pytestmark = pytest.mark.torch


def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.matmul(x, w.t()).relu(), x.double()], dim=1)


@pytest.fixture(scope="module", params=[False, True], ids=["static", "dynamic"])
def graph(request: pytest.FixtureRequest) -> TracedGraph:
    inputs = torch.randn(4, 6, requires_grad=True), torch.randn(3, 6, requires_grad=True)
    return traced(program, inputs, dynamic=request.param)


def found(graph: TracedGraph, *constraints: Constraint) -> list[Violation]:
    return list(find_violations(constraints, graph.forward, graph.backward))


def places(violations: list[Violation]) -> set[tuple[str, str]]:
    return {(each.graph, each.op) for each in violations}


MM = ["mm"]
RESULTS: list[Callable[..., TensorConstraint]] = [
    lambda **only: ShapeConstraint(5, **only),
    lambda **only: DtypeConstraint(["bool"], **only),
    lambda **only: MemoryConstraint(1, **only),
    lambda **only: LayoutConstraint(["sparse_coo"], **only),
]


@pytest.mark.parametrize("make", RESULTS, ids=["shape", "dtype", "memory", "layout"])
def test_every_limit_on_tensors_can_be_narrowed_to_ops(
    make: Callable[..., TensorConstraint], graph: TracedGraph
) -> None:
    assert places(found(graph, make())) > {("forward", "placeholder"), ("backward", "placeholder")}
    assert places(found(graph, make(ops=MM))) == {("forward", "aten.mm.default"), ("backward", "aten.mm.default")}
    assert places(found(graph, make(ops=["relu"]))) == {("forward", "aten.relu.default")}
    assert places(found(graph, make(ops=[torch.ops.aten.threshold_backward]))) == {
        ("backward", "aten.threshold_backward.default")
    }
    assert found(graph, make(ops=["bmm"])) == []


@pytest.mark.parametrize("make", RESULTS, ids=["shape", "dtype", "memory", "layout"])
def test_every_limit_on_tensors_can_be_narrowed_to_arguments(
    make: Callable[..., TensorConstraint], graph: TracedGraph
) -> None:
    by_name = found(graph, make(ops=MM, arguments=["mat2"]))
    assert places(by_name) == {("forward", "aten.mm.default"), ("backward", "aten.mm.default")}
    assert {each.message.partition(": ")[0] for each in by_name} == {"argument mat2"}
    assert found(graph, make(ops=MM, arguments=[1])) == by_name
    assert len(found(graph, make(ops=MM, arguments=["self", "mat2"]))) == 2 * len(by_name)


def test_what_is_checked_is_the_argument_and_not_the_result() -> None:
    """x[4, 6] @ w.t()[6, 3]: only the last dimension of the second matrix is no multiple of 2."""
    graph = traced(program, [torch.randn(4, 6), torch.randn(3, 6)])
    narrowed = ShapeConstraint(2, ops=MM, arguments=["mat2"], dims=[-1])
    assert found(graph, narrowed) == [
        Violation(
            rule="shape-alignment",
            op="aten.mm.default",
            dtype="float32",
            shape=(6, 3),
            source=f"{__file__}:{inspect.getsourcelines(program)[1] + 1}",
            message="argument mat2: dimension 1 is 3: not a multiple of 2 elements",
            graph="forward",
        )
    ]
    assert found(graph, ShapeConstraint(2, ops=MM, arguments=["mat2"], dims=[0])) == []
    assert found(graph, ShapeConstraint(2, ops=MM, arguments=["self"])) == []


def test_a_list_of_tensors_is_checked_one_by_one(graph: TracedGraph) -> None:
    checked = found(graph, DtypeConstraint(["float64"], ops=["aten.cat.default"], arguments=["tensors"]))
    assert [each.message for each in checked] == ["argument tensors[0]: float32 is not one of float64"]
    checked = found(graph, DtypeConstraint(["float32"], ops=["cat"], arguments=[0]))
    assert [each.message for each in checked] == ["argument tensors[1]: float64 is not one of float32"]


def test_an_argument_given_by_keyword_is_found() -> None:
    graph = traced(lambda x: torch.ops.aten.mm(x, mat2=x), [torch.randn(3, 3)])
    for argument in ("mat2", 1):
        assert len(found(graph, ShapeConstraint(2, ops=MM, arguments=[argument]))) == 1


def test_the_arguments_of_a_higher_order_op_go_by_position() -> None:
    def branches(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))  # type: ignore[no-any-return]

    graph = traced(branches, [torch.randn(3)])
    checked = found(graph, DtypeConstraint(["float64"], ops=["cond"], arguments=[0, 3]))
    assert [each.message for each in checked] == [
        "argument 0: bool is not one of float64",
        "argument 3[0]: float32 is not one of float64",
    ]
    with pytest.raises(ValueError, match=r"'operands' is no argument of .*; there are positions only"):
        ShapeConstraint(2, ops=["cond"], arguments=["operands"])


@pytest.mark.parametrize(
    ("only", "lines"),
    [
        ({"ops": ["matmul"]}, ["aten.matmul: is made of other ops, and a backend sees only those; name them instead"]),
        ({"ops": ["addmn"]}, ["aten.addmn: no such op; did you mean aten.addmv or aten.addmm or aten.add?"]),
        (
            {"ops": MM, "arguments": ["mat3", "weight"]},
            [
                "arguments: 'mat3' is no argument of aten.mm; did you mean 'mat2'?",
                "arguments: 'weight' is no argument of aten.mm; there are mat2, self",
            ],
        ),
        ({"ops": MM, "arguments": [7]}, ["arguments: 7 is no argument of aten.mm; there are mat2, self"]),
        (
            {"ops": ["sum.dim_IntList"], "arguments": ["dim"]},
            ["arguments: 'dim' takes no tensor in aten.sum.dim_IntList"],
        ),
        ({"arguments": ["mat2"]}, ["arguments: of which ops? name them with ops="]),
    ],
)
def test_what_could_never_fire_is_refused_all_at_once(only: dict[str, Any], lines: list[str]) -> None:
    with pytest.raises(ValueError) as refused:
        DtypeConstraint(["float32"], **only)
    assert str(refused.value).splitlines() == lines


@pytest.mark.parametrize("only", [{"ops": "mm"}, {"ops": MM, "arguments": "mat2"}])
def test_a_lone_name_is_not_a_list_of_letters(only: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="must be a list"):
        LayoutConstraint(**only)


def test_an_argument_that_one_of_the_ops_has_will_do() -> None:
    ShapeConstraint(2, ops=["mm", "bmm", "add"], arguments=["mat2", "other"])
    # Of a library that is not loaded yet nothing is known.
    ShapeConstraint(2, ops=["mylib.op"], arguments=["weight", 5])


class Square(TensorConstraint):
    rule = "square"

    def complaint(self, tensor: TracedTensor) -> str | None:
        return None if len(set(tensor.sizes)) == 1 else "not square"


class SquareInItsOwnWay(Square):
    def __init__(self) -> None:
        """As before there was narrowing: the base class is not asked."""


def test_a_limit_of_ones_own_is_narrowed_the_same_way(graph: TracedGraph) -> None:
    narrowed = found(graph, Square(ops=MM, arguments=["mat2"]))
    assert {each.message for each in narrowed} == {"argument mat2: not square"}
    assert found(graph, Square()) == found(graph, SquareInItsOwnWay()) != []
