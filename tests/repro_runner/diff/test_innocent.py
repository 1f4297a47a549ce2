"""Who is not to blame: ops beside a copy that is left out, after a moved generator, or less exact than the backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.fx import GraphModule, Interpreter, Node

from repro_runner.constraints.nodes import op_name
from repro_runner.diff import ComparisonConfig, DiffReport, KernelDiffHarness
from repro_runner.graphs.by_name import Backend
from repro_runner.minifier import search_failure
from repro_runner.model_under_test import load_model
from tests.repro_runner.diff.wrong_backends import (
    _COPIES,
    MODELS,
    RIGHT,
    SCRATCH,
    Truth,
    draws_backwards,
    in_static_memory,
    leaves_out,
    merging,
    try_right,
    writes_late,
)

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def compare(model: Callable[..., Any], inputs: Any, backend: Backend | str, **settings: Any) -> DiffReport:
    calls = settings.pop("calls", ())
    config = ComparisonConfig(**settings)
    return KernelDiffHarness(model, inputs, test_backend=backend, comparison_config=config, calls=calls).compare()


def stepping(change: Callable[[str, list[Any], Callable[[], Any]], Any]) -> Backend:
    """Runs Dynamo's graph op by op: `change(name, arguments, run)` gives the value of each."""

    def backend(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        class Stepping(Interpreter):
            def run_node(self, n: Node) -> Any:
                if not n.op.startswith("call"):
                    return super().run_node(n)
                return change(
                    op_name(n), list(self.fetch_args_kwargs_from_env(n)[0]), lambda: Interpreter.run_node(self, n)
                )

        return lambda *arguments: Stepping(graph, False).run(*arguments)

    return backend


def drawing(name: str, draw: Callable[[], Any]) -> Backend:
    return stepping(lambda op, _args, run: (draw() if op == name else None, run())[1])


def copied(x: Tensor) -> Tensor:
    y = x * 2
    kept = y.clone()
    y.add_(1)
    return kept + torch.relu(y)


def twice(x: Tensor) -> Tensor:
    x = x * 1
    before = torch.sin(x)
    x.add_(1)
    return before + torch.sin(x)


def dropped(x: Tensor) -> Tensor:
    return torch.nn.functional.dropout(torch.relu(x), 0.5, True) * 3


def dropped_twice(x: Tensor) -> Tensor:
    one = torch.nn.functional.dropout(x, 0.5, True)
    return one - torch.nn.functional.dropout(x + 1, 0.5, True)


def dropped_after_a_break(x: Tensor) -> Tensor:
    y = torch.relu(x)
    torch._dynamo.graph_break()
    return torch.nn.functional.dropout(y, 0.5, True) * 3


@pytest.mark.parametrize(
    ("model", "backend", "kind"),
    [
        (copied, leaves_out("Tensor.clone")(Truth()), "elides"),
        (copied, leaves_out(*_COPIES)(Truth()), "elides"),
        (twice, merging(Truth()), "merges"),
        (twice, writes_late(Truth()), "merges"),
        (dropped, drawing("torch.relu", lambda: torch.rand(3)), "generator"),
        (dropped, drawing("torch.relu", lambda: torch.manual_seed(99)), "generator"),
        (dropped_twice, draws_backwards(Truth()), "unknown"),
        (dropped_after_a_break, drawing("torch.relu", lambda: torch.rand(3)), "draws"),
    ],
    ids=["copy", "any copy", "merged", "late", "drawn", "seeded", "other order", "drawn before a break"],
)
def test_no_op_is_blamed_for_what_happens_around_it(model: Callable[..., Any], backend: Backend, kind: str) -> None:
    report = compare(model, torch.randn(4, 8), backend)
    found = report.first_difference
    assert found is not None and (found.kind, found.op) == (kind, None), report.summary()


def test_a_random_op_that_is_wrong_itself_is_named() -> None:
    wrong = stepping(lambda op, _args, run: run() * 1.5 if "dropout" in op else run())
    found = compare(dropped, torch.randn(4, 8), wrong).first_difference
    assert found is not None and found.op is not None and found.op.name == "torch.nn.functional.dropout"


# What is more exact than eager.

LARGE = torch.randn(20_000, generator=torch.Generator().manual_seed(0)) * 1000
CANCELLING = torch.cat([LARGE, -LARGE.flip(0), torch.rand(100, generator=torch.Generator().manual_seed(1))])


def summed(x: Tensor) -> Tensor:
    return torch.sum(x * 1.25) + 1


def chosen(x: Tensor) -> Tensor:
    """An integer that depends on the sum."""
    return (torch.sum(x * 1.25) * 1000).long()


def in_float64(op: str, args: list[Any], run: Callable[[], Any]) -> Any:
    return args[0].double().sum().float() if op == "torch.sum" else run()


@pytest.mark.parametrize("model", [summed, chosen])
def test_a_backend_that_is_more_exact_than_eager_is_right(model: Callable[..., Any]) -> None:
    report = compare(model, CANCELLING, stepping(in_float64))
    assert report.passed and report.first_difference is None, report.summary()
    assert "output: beyond the tolerance, but rounding, as a run in float64 shows" in report.verdict()
    assert report.leaves[0].comparison is not None and report.leaves[0].comparison.rounding
    assert not compare(model, CANCELLING, stepping(in_float64), float64=False).passed


def test_a_more_exact_op_is_not_counted_among_the_wrong_ones() -> None:
    def program(x: Tensor) -> Tensor:
        return torch.relu(x[:8]) + torch.sum(x * 1.25)

    def change(op: str, args: list[Any], run: Callable[[], Any]) -> Any:
        return run() + 100 if op == "torch.relu" else in_float64(op, args, run)

    found = compare(program, CANCELLING, stepping(change)).first_difference
    assert found is not None and found.op is not None and (found.op.name, found.others) == ("torch.relu", 0)


def test_what_lies_in_one_memory_is_not_asked_of_float64() -> None:
    """In float64 each would have a memory of its own, as in this backend, which is wrong."""

    def program(x: Tensor, y: Tensor) -> Tensor:
        x.add_(1)
        return y * 2

    whole = torch.rand(4)
    apart = lambda graph, _inputs: lambda *given: graph(*(each.clone() for each in given))  # noqa: E731
    assert not compare(program, (whole, whole.view(2, 2)), apart).passed


@pytest.mark.slow
@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize(
    "model", [pytest.param(each, marks=[pytest.mark.prove] * (each != SCRATCH)) for each in MODELS]
)
def test_a_right_backend_is_accused_of_nothing(model: str, name: str) -> None:
    for setting in ("gradients", "longer", "dynamic"):
        torch._dynamo.reset()
        report = try_right(name, model, **{setting: True})  # type: ignore[arg-type] # none of them is the device
        assert report.passed and report.first_difference is None, report.summary()


BACKENDS = """
import torch


def make_model():
    large = torch.randn(20_000, generator=torch.Generator().manual_seed(0)) * 1000
    return Model(), (torch.cat([large, -large.flip(0), torch.rand(100)]),)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x[:16]), torch.sum(x * 1.25)


def stepping(change):
    def backend(graph, _inputs, **_):
        class Stepping(torch.fx.Interpreter):
            def call_function(self, target, args, kwargs):
                run = super().call_function
                return change(target.__name__, args, lambda: run(target, args, kwargs))
        return lambda *arguments: Stepping(graph).run(*arguments)
    return backend


as_it_is = stepping(lambda name, args, run: run())
more_exact = stepping(lambda name, args, run: args[0].double().sum().float() if name == "sum" else run())
in_parts = stepping(
    lambda name, args, run: torch.stack([part.sum() for part in args[0].chunk(7)]).sum() if name == "sum" else run()
)
wrong_relu = stepping(lambda name, args, run: run() * 1.01 if name == "relu" else run())
wrong_sum = stepping(lambda name, args, run: run() * 3 + 1000 if name == "sum" else run())
in_half = stepping(lambda name, args, run: args[0].bfloat16().sum().float() if name == "sum" else run())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("as_it_is", True),
        ("more_exact", True),
        ("in_parts", True),
        ("wrong_relu", False),
        ("wrong_sum", False),
        ("in_half", False),
    ],
)
def test_diff_and_minify_say_the_same(name: str, right: bool, tmp_path: Path) -> None:
    """They have one judge of what is rounding. minify draws other inputs before it takes the model's own."""
    (tmp_path / "program.py").write_text(BACKENDS, "utf-8")
    subject = load_model(f"{tmp_path}/program.py:make_model")
    backend = f"{tmp_path}/program.py:{name}"
    report = compare(subject.model, subject.args, backend)
    assert report.passed is right, report.summary()
    searched = search_failure(subject, "numeric", backend=backend)
    assert searched.unknown == () and (searched.program is None) is right, searched.tried


# Memory: strides, and what the next call overwrites.


def transposing(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
    """The numbers are right, and lie in memory column by column."""
    return lambda *given: [each.t().contiguous().t() if each.dim() == 2 else each for each in graph(*given)]


def test_outputs_with_other_strides_are_told() -> None:
    report = compare(lambda x: torch.relu(x), torch.randn(3, 4), transposing)
    assert [(leaf.name, leaf.part, leaf.reason) for leaf in report.failed_leaves] == [
        ("strides of output", "strides", "(1, 3) instead of (4, 1)")
    ]
    assert report.first_difference is None
    assert compare(lambda x: torch.relu(x), torch.randn(3, 4), transposing, check_strides=False).passed


@pytest.mark.parametrize("size", [(1, 4), (4, 1), (0, 4)])
def test_strides_where_no_step_is_taken_are_alike(size: tuple[int, int]) -> None:
    assert compare(lambda x: torch.relu(x), torch.randn(size), transposing).passed


def test_a_result_that_is_expanded_in_eager_alone_is_told() -> None:
    report = compare(
        lambda x: (x * 2).expand(3, 4),
        torch.randn(1, 4),
        lambda graph, _inputs: lambda *given: [each.contiguous() for each in graph(*given)],
    )
    assert [leaf.reason for leaf in report.failed_leaves] == ["(4, 1) instead of (0, 1)"]


def viewed_after_a_break(x: Tensor) -> Tensor:
    y = torch.relu(x)
    torch._dynamo.graph_break()
    return y.view(-1) + 1


def test_the_line_of_the_user_is_not_blamed_for_strides_that_a_graph_before_it_returned() -> None:
    report = compare(viewed_after_a_break, torch.randn(3, 4), transposing)
    assert report.failure.startswith("it returns output 0 of graph 1 with strides (1, 3) instead of (4, 1), and then")
    assert Path(__file__).name not in report.failure


def test_what_a_backend_raises_is_its_own_also_after_other_strides() -> None:
    def raising(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        if any("add" in node.name for node in graph.graph.nodes):
            raise NotImplementedError("no kernel for add")
        return transposing(graph, inputs)

    def program(x: Tensor) -> Tensor:
        y = torch.relu(x)
        torch._dynamo.graph_break()
        return y + 1

    assert "no kernel for add (" in compare(program, torch.randn(3, 4), raising).failure


@pytest.mark.parametrize("integers", [False, True])
def test_an_output_that_the_next_call_overwrites_is_told(integers: bool) -> None:
    given = torch.arange(4) if integers else torch.randn(4)
    report = compare(lambda x: (x * 2, x + 1), given, in_static_memory(slice(1))(Truth()))
    assert [(leaf.name, leaf.part) for leaf in report.failed_leaves] == [("output[0] after another call", "memory")]
    assert "another call changes it" in report.summary()


def test_a_buffer_that_the_model_itself_returns_is_no_static_memory() -> None:
    class Counting(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.total = torch.nn.Buffer(torch.zeros(4))

        def forward(self, x: Tensor) -> Tensor:
            return self.total.add_(x)

    assert compare(Counting(), torch.rand(4), lambda graph, _inputs: graph.forward).passed


# Several calls, and dynamic shapes.


def wrong_if_dynamic(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
    values = [node.meta.get("example_value") for node in graph.graph.find_nodes(op="placeholder")]
    if not any(isinstance(value, torch.SymInt) for value in values):
        return graph.forward
    change = lambda op, _args, run: run() + 1 if op == "torch.tanh" else run()  # noqa: E731
    return stepping(change)(graph, _inputs)


def three_ops(x: Tensor) -> Tensor:
    return torch.tanh(torch.relu(x) * 2)


def test_a_backend_that_is_wrong_for_a_second_size_differs_in_that_call() -> None:
    given = torch.randn(4, 8)
    assert compare(three_ops, given, wrong_if_dynamic).passed
    report = compare(three_ops, given, wrong_if_dynamic, calls=[given, torch.randn(5, 8)])
    assert [leaf.name for leaf in report.failed_leaves] == ["call 2: output"]
    found = report.first_difference
    assert found is not None and found.op is not None and (found.op.name, found.graph) == ("torch.tanh", 1)


def test_a_backend_that_is_wrong_for_dynamic_shapes_differs_with_these() -> None:
    report = compare(three_ops, torch.randn(4, 8), wrong_if_dynamic, dynamic=True)
    assert report.first_difference is not None and report.first_difference.op is not None
    assert report.first_difference.op.name == "torch.tanh"


def test_calls_may_be_functions_of_the_model_and_gradients_are_of_all() -> None:
    layer, x = torch.nn.Linear(8, 2), torch.randn(3, 8)
    report = compare(layer, x, "aot_eager", calls=[x, lambda model: model(x * 2)], gradients=True)
    assert report.passed
    assert [leaf.name for leaf in report.leaves] == [
        "call 1: output",
        "call 2: output",
        "model.weight.grad",
        "model.bias.grad",
    ]
