"""Each limit fires and does not fire, forward and backward, with static and with dynamic shapes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch
from torch.fx import Node

from repro_runner.backends import collect_violations, make_mock_backend
from repro_runner.constraints import (
    Constraint,
    DtypeConstraint,
    LayoutConstraint,
    MemoryConstraint,
    ShapeConstraint,
    TracedTensor,
    UnsupportedOpsConstraint,
    Violation,
    op_name,
)

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::repro_runner.backends.ConstraintWarning")]


@pytest.fixture(autouse=True)
def fresh_dynamo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.matmul(x, w.t()).relu()


def product_inputs() -> tuple[torch.Tensor, ...]:
    return torch.randn(4, 6, requires_grad=True), torch.randn(3, 6, requires_grad=True)


def found_in(
    program: Callable[..., Any], inputs: Sequence[Any], *constraints: Constraint, dynamic: bool | None = False
) -> list[Violation]:
    backend = make_mock_backend(strict=False, constraints=constraints, check_backward=True)
    with collect_violations() as found:
        torch.compile(program, backend=backend, dynamic=dynamic, fullgraph=True)(*inputs)
    return found


FIRING: list[tuple[Constraint, str, str]] = [
    (ShapeConstraint(alignment=4), "aten.mm.default", "aten.mm.default"),
    (DtypeConstraint(allowed_dtypes=[torch.bfloat16]), "aten.relu.default", "aten.threshold_backward.default"),
    (MemoryConstraint(max_bytes=47), "aten.mm.default", "aten.mm.default"),
    (LayoutConstraint(), "aten.t.default", "aten.t.default"),
    (UnsupportedOpsConstraint(["mm"]), "aten.mm.default", "aten.mm.default"),
]
SILENT: list[Constraint] = [
    ShapeConstraint(alignment=1),
    DtypeConstraint(allowed_dtypes=["float32", "bool"]),
    MemoryConstraint(max_bytes=96),
    LayoutConstraint(["strided"]),
    UnsupportedOpsConstraint(["bmm"]),
]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    ("constraint", "forward_op", "backward_op"), FIRING, ids=lambda each: getattr(each, "rule", "")
)
def test_a_limit_that_is_broken_fires_forward_and_backward(
    constraint: Constraint, forward_op: str, backward_op: str, dynamic: bool
) -> None:
    found = found_in(product, product_inputs(), constraint, dynamic=dynamic)
    assert {each.rule for each in found} == {constraint.rule}
    assert forward_op in {each.op for each in found if each.graph == "forward"}
    assert backward_op in {each.op for each in found if each.graph == "backward"}
    assert all(isinstance(size, str) for each in found for size in each.shape or () if dynamic)


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("constraint", SILENT, ids=lambda each: each.rule)
def test_a_limit_that_is_kept_is_silent(constraint: Constraint, dynamic: bool) -> None:
    assert found_in(product, product_inputs(), constraint, dynamic=dynamic) == []


@pytest.mark.parametrize(
    "allowed", [{"float32"}, {torch.float32}, ["torch.float32"], ("float",), iter([torch.float])], ids=range(5)
)
def test_dtypes_may_be_a_set_of_names_or_torchs_own(allowed: Any) -> None:
    constraint = DtypeConstraint(allowed_dtypes=allowed)
    assert constraint.complaint(tensor([3])) is None
    assert constraint.complaint(tensor([3], dtype=torch.float16)) == "float16 is not one of float32"


def test_a_record_holds_rule_op_dtype_shape_and_the_users_line() -> None:
    line = inspect.getsourcelines(product)[1] + 1
    found = [each for each in found_in(product, product_inputs(), ShapeConstraint(alignment=4)) if "mm" in each.op]
    assert found[0] == Violation(
        rule="shape-alignment",
        op="aten.mm.default",
        dtype="float32",
        shape=(4, 3),
        source=f"{__file__}:{line}",
        message="dimension 1 is 3: not a multiple of 4 elements",
        graph="forward",
    )
    assert str(found[0]) == (
        f"{__file__}:{line}: aten.mm.default float32[4, 3]: dimension 1 is 3: not a multiple of 4 elements "
        "(shape-alignment, forward)"
    )
    assert {each.source for each in found} == {f"{__file__}:{line}"}


def test_the_line_is_the_users_even_inside_torchs_own_python() -> None:
    def program(x: torch.Tensor) -> Any:
        y = x + 1
        return torch.distributions.Normal(y, 1.0).log_prob(y)  # type: ignore[no-untyped-call]

    line = inspect.getsourcelines(program)[1]
    sources = [(each.op, each.source) for each in found_in(program, [torch.ones(4)], DtypeConstraint([torch.float16]))]
    # An input has no line of its own: the one that uses it first stands for it.
    assert sources[:2] == [("placeholder", f"{__file__}:{line + 1}"), ("aten.add.Tensor", f"{__file__}:{line + 1}")]
    assert {source for _, source in sources[2:]} == {f"{__file__}:{line + 2}"}


def test_each_tensor_is_reported_once() -> None:
    """Not again where `getitem` picks it, the backward reads what the forward saved, or a branch gets it."""

    def program(x: torch.Tensor) -> torch.Tensor:
        left, _ = torch.split(x, 2)
        return torch.cond(left.sum() > 0, lambda y: y.exp(), lambda y: y.sin(), (left,))  # type: ignore[no-any-return]

    inputs = [torch.randn(4, requires_grad=True)]
    found = found_in(program, inputs, DtypeConstraint([torch.bool]))
    forward = [each.op for each in found if each.graph == "forward"]
    assert forward == [
        "placeholder",
        "aten.split.Tensor",
        "aten.split.Tensor",
        "aten.sum.default",
        "higher_order.cond",
        "aten.exp.default",
        "aten.sin.default",
    ]
    assert [each.op for each in found if each.graph == "backward"].count("placeholder") == 1, "the incoming gradient"


def test_constants_are_checked() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return x + torch.tensor([1.0, 2.0, 3.0])

    found = found_in(program, [torch.randn(8, 1)], ShapeConstraint(alignment=3, dims=[-1], spare_ones=False))
    assert {each.op for each in found} == {"placeholder"}
    found = found_in(program, [torch.randn(8, 1)], DtypeConstraint([torch.float16]))
    assert "get_attr" in {each.op for each in found}


def tensor(sizes: Sequence[int | None], strides: Sequence[int | None] = (), **changes: Any) -> TracedTensor:
    facts: dict[str, Any] = {"dtype": torch.float32, "layout": torch.strided, "shape": tuple(sizes)}
    return TracedTensor(**(facts | {"sizes": tuple(sizes), "strides": tuple(strides)} | changes))


@pytest.mark.parametrize(
    ("dims", "sizes", "wrong"),
    [
        (None, (8, 16), ""),
        (None, (8, 3, 5), "dimension 1 is 3, dimension 2 is 5"),
        (None, (), ""),
        (None, (0, 8), ""),
        ([-1], (3, 8), ""),
        ([-1], (8, 3), "dimension 1 is 3"),
        ([1, -1], (3, 5), "dimension 1 is 5"),
        ([2, -3], (3, 3), ""),
    ],
)
def test_alignment_looks_at_the_dimensions_it_is_told_to(
    dims: list[int] | None, sizes: tuple[int, ...], wrong: str
) -> None:
    complaint = ShapeConstraint(8, dims=dims).complaint(tensor(sizes))
    assert (complaint or "").removesuffix(": not a multiple of 8 elements") == wrong


@pytest.mark.parametrize(
    ("keywords", "value", "wrong"),
    [
        ({}, torch.empty(1, 16), ""),
        ({}, torch.empty(1, 1), ""),
        ({}, torch.empty(1, 3), "dimension 1 is 3: not a multiple of 16 elements"),
        ({"spare_ones": False}, torch.empty(1, 16), "dimension 0 is 1: not a multiple of 16 elements"),
        ({"unit": "bytes"}, torch.empty(3, 8), ""),
        ({"unit": "bytes"}, torch.empty(3, 8).bfloat16(), ""),
        ({"unit": "bytes"}, torch.empty(8, 3), "dimension 1 is 3 (12 bytes): not a multiple of 16 bytes"),
        ({"unit": "bytes"}, torch.empty(8, 4).half(), "dimension 1 is 4 (8 bytes): not a multiple of 16 bytes"),
        ({"unit": "bytes"}, torch.empty(8, 1), ""),
        ({"unit": "bytes", "dims": [0]}, torch.empty(3, 8), "dimension 0 is 3 (12 bytes): not a multiple of 16 bytes"),
        ({"unit": "bytes"}, torch.empty(()), ""),
    ],
)
def test_alignment_spares_ones_unless_told_otherwise_and_counts_elements_or_bytes(
    keywords: dict[str, Any], value: torch.Tensor, wrong: str
) -> None:
    assert (ShapeConstraint(16, **keywords).complaint(TracedTensor.of(value)) or "") == wrong


@pytest.mark.parametrize("shape", [(), (7,), (2, 3), (2, 3, 4, 5), (2, 1, 4, 5), (1, 3, 1, 1), (2, 3, 2, 4, 5), (0, 3)])
def test_layouts_agree_with_torch(shape: tuple[int, ...]) -> None:
    """On every order of the dimensions in memory, and on a slice, which leaves gaps."""
    formats = {"contiguous": torch.contiguous_format}
    if len(shape) in (4, 5):
        formats["channels_last" if len(shape) == 4 else "channels_last_3d"] = (
            torch.channels_last if len(shape) == 4 else torch.channels_last_3d
        )
    dense = torch.empty(shape)
    rolled = [dense.permute([(dim + by) % len(shape) for dim in range(len(shape))]) for by in range(len(shape))]
    variants = [
        dense,
        *rolled,
        *(each[..., :1] for each in rolled),
        *(each.contiguous(memory_format=form) for form in formats.values() for each in rolled[:1]),
    ]
    for variant in variants:
        for name, memory_format in formats.items():
            complaint = LayoutConstraint([name]).complaint(TracedTensor.of(variant))
            assert (complaint is None) == variant.is_contiguous(memory_format=memory_format), (name, variant.stride())


def test_a_layout_may_be_torchs_own_object_and_sparse_tensors_have_theirs() -> None:
    assert LayoutConstraint([torch.contiguous_format, torch.channels_last]).allowed == {"contiguous", "channels_last"}
    sparse = TracedTensor.of(torch.eye(3).to_sparse())
    assert LayoutConstraint().complaint(sparse) == "sparse_coo is not one of contiguous"
    assert LayoutConstraint([torch.sparse_coo]).complaint(sparse) is None
    assert MemoryConstraint(max_bytes=0).complaint(sparse) is None


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        (torch.empty(4, 6), 96),
        (torch.empty(4, 6, dtype=torch.float64), 192),
        (torch.empty(4, 1).expand(4, 1000), 16),
        (torch.empty(100)[::10], 40),
        (torch.empty(0, 5), 0),
        (torch.empty(()), 4),
    ],
)
def test_memory_is_what_the_elements_need(value: torch.Tensor, taken: int) -> None:
    complaint = MemoryConstraint(max_bytes=taken - 1).complaint(TracedTensor.of(value)) if taken else None
    assert complaint == (f"takes {taken} bytes, more than {taken - 1}" if taken else None)
    assert MemoryConstraint(max_bytes=taken).complaint(TracedTensor.of(value)) is None


@pytest.mark.parametrize(
    "name",
    ["mm", "aten.mm", "aten::mm", "aten.mm.default", "mm.default", "torch.ops.aten.mm", torch.ops.aten.mm.default],
)
def test_an_op_is_understood_under_all_its_names_and_fires_on_torch_matmul(name: Any) -> None:
    found = found_in(torch.matmul, [torch.randn(2, 3), torch.randn(3, 2)], UnsupportedOpsConstraint([name]))
    assert [(each.op, each.dtype, each.shape) for each in found] == [("aten.mm.default", "float32", (2, 2))]


def test_one_overload_does_not_stand_for_another() -> None:
    inputs = [torch.randn(2, 3)]
    assert found_in(torch.sum, inputs, UnsupportedOpsConstraint(["aten.sum.dim_IntList"])) == []
    assert len(found_in(torch.sum, inputs, UnsupportedOpsConstraint(["aten.sum"]))) == 1


@pytest.mark.parametrize("name", ["cond", "higher_order.cond", "sin"])
def test_higher_order_ops_and_the_ops_in_their_branches_are_seen(name: str) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))  # type: ignore[no-any-return]

    assert len(found_in(program, [torch.randn(3)], UnsupportedOpsConstraint([name]))) == 1


def test_names_that_could_never_fire_are_refused_all_at_once() -> None:
    with pytest.raises(ValueError) as refused:
        UnsupportedOpsConstraint(["matmul", "aten.add_", "relux", "aten.mm.nope", "mm", "mylib.op", "copy_"])
    assert str(refused.value).splitlines() == [
        "aten.add_: writes into an argument, and a backend sees only the op that returns a new tensor; "
        "name that instead",
        "aten.matmul: is made of other ops, and a backend sees only those; name them instead",
        "aten.mm.nope: no such overload; there are default, dtype, dtype_out, out",
        "aten.relux: no such op; did you mean aten.relu or aten.rrelu or aten.relu_?",
    ]


class Recorder(Constraint):
    rule = "recorder"

    def __init__(self) -> None:
        self.ops: set[str] = set()

    def check(self, node: Node) -> Iterator[Violation]:
        self.ops |= {op_name(node)} if op_name(node).startswith("aten.") else set()
        return iter(())


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_no_op_of_a_real_graph_is_refused(mode: Callable[[], Any]) -> None:
    """What is said never to reach a backend does not."""
    functional = torch.nn.functional

    def program(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x.add_(1)
        y = functional.linear(torch.matmul(x, w), w)
        attended = functional.scaled_dot_product_attention(y[None], y[None], y[None])
        normed = functional.dropout(functional.layer_norm(attended, (4,)), 0.5)
        convolved = functional.conv1d(normed.reshape(1, 1, -1), torch.ones(1, 1, 3)).to(torch.float64)
        return convolved, torch.einsum("ij,jk->ik", x, w), functional.gelu(x).std(), *x.chunk(2)

    recorder = Recorder()
    with mode():
        found_in(program, [torch.randn(4, 4), torch.randn(4, 4, requires_grad=True)], recorder, dynamic=True)
    assert {"aten.mm.default", "aten.native_layer_norm.default"} <= recorder.ops
    UnsupportedOpsConstraint(recorder.ops)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ShapeConstraint(alignment=0), "alignment=0"),
        (lambda: ShapeConstraint(alignment=8, unit="bits"), "unit='bits': must be elements or bytes"),
        (lambda: MemoryConstraint(max_bytes=-1), "max_bytes=-1"),
        (lambda: DtypeConstraint(["float32", "float33", "nn"]), "no such dtype: float33, nn"),
        (lambda: DtypeConstraint("float32"), "must be a list"),
        (lambda: LayoutConstraint(["contiguous", "diagonal"]), "no such layout: diagonal; there are "),
        (lambda: LayoutConstraint("contiguous"), "must be a list"),
        (lambda: UnsupportedOpsConstraint("mm"), "must be a list"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(make: Callable[[], Constraint], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make()


def test_a_constraint_of_ones_own() -> None:
    class NoViews(Constraint):
        rule = "no-views"

        def check(self, node: Node) -> Iterator[Violation]:
            if op_name(node).startswith("aten.view."):
                yield self.violation(node, "this device has no views")

    found = found_in(lambda x: x.view(-1) + 1, [torch.randn(2, 3)], NoViews())
    assert [(each.rule, each.op, each.message) for each in found] == [
        ("no-views", "aten.view.default", "this device has no views")
    ]


def test_a_dynamic_dimension_is_checked_as_compiled_and_shown_as_its_symbol() -> None:
    found = found_in(lambda x: x.sin(), [torch.randn(5, 8)], ShapeConstraint(alignment=8), dynamic=True)
    symbol = found[-1].shape[0] if found[-1].shape else None
    assert isinstance(symbol, str)
    assert found[-1].message == f"dimension 0 is 5 (dynamic {symbol}, as first compiled): not a multiple of 8 elements"
    assert found_in(lambda x: x.sin(), [torch.randn(16, 8)], ShapeConstraint(alignment=8), dynamic=True) == []


def test_a_size_that_depends_on_data_is_not_checked() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.nonzero(x) * 2

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        found = found_in(
            program,
            [torch.ones(8)],
            ShapeConstraint(alignment=8, spare_ones=False),
            MemoryConstraint(max_bytes=32),
            LayoutConstraint(),
        )
    assert {each.message for each in found} == {"dimension 1 is 1: not a multiple of 8 elements"}
    assert all(str((each.shape or ("",))[0]).startswith("u") for each in found)
