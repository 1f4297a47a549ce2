"""Programs in which it is hard to tell which op is wrong: they share memory, write to it behind torch's back, leave it
as it is, or hide their values. An op that is right is never blamed."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.fx import GraphModule, Interpreter, Node

from repro_runner.constraints.nodes import op_name
from repro_runner.diff import ComparisonConfig, DiffReport, KernelDiffHarness
from repro_runner.diff.report import describe_first_difference
from repro_runner.graphs.by_name import Backend

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

Run = Callable[[], Any]
Step = Callable[[Node, Sequence[Any], Run], Any]
"""What a backend computes for a node: from its operands, and from a function that computes it rightly."""


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def step_by_step(step: Step) -> Backend:
    class Steps(Interpreter):
        def run_node(self, n: Node) -> Any:
            right = super().run_node
            return step(n, self.fetch_args_kwargs_from_env(n)[0], lambda: right(n))

    return lambda graph, _inputs, **_: lambda *arguments: Steps(graph).run(*arguments)


def spoils(*names: str) -> Backend:
    """The values of these ops are a quarter too large."""

    def step(node: Node, _args: Sequence[Any], run: Run) -> Any:
        return run() * 1.25 if op_name(node).rpartition(".")[2] in names else run()

    return step_by_step(step)


def compare(program: Callable[..., Any], inputs: Any, backend: Backend, *, gradients: bool = False) -> DiffReport:
    torch.manual_seed(0)
    config = ComparisonConfig(repeats=1, gradients=gradients)
    return KernelDiffHarness(program, inputs, test_backend=backend, comparison_config=config).compare()


def told(report: DiffReport) -> str:
    assert report.first_difference is not None, report.summary()
    return "\n".join(describe_first_difference(report.first_difference, report.graphs))


def blamed(report: DiffReport) -> tuple[str, int]:
    """The op, and how many others are said to be wrong."""
    first = report.first_difference
    assert first is not None and first.op is not None, report.summary()
    return first.op.name, first.others


def test_an_op_that_writes_and_yields_nothing_is_judged() -> None:
    def program(x: Tensor) -> Tensor:
        y = x * 2
        y[0] = 1.0
        return y + 1

    def step(node: Node, args: Sequence[Any], run: Run) -> Any:
        return operator.setitem(args[0], args[1], 5.0) if node.target is operator.setitem else run()

    report = compare(program, torch.rand(3, 4), step_by_step(step))
    assert blamed(report) == ("operator.setitem", 0)
    assert "(3 ops)" in told(report) and "What it writes to y: " in told(report)


@torch.library.custom_op("graphbreak_tests::double_into", mutates_args={"out"})
def double_into(x: Tensor, out: Tensor) -> None:
    out.copy_(x * 2)


def test_a_custom_op_that_writes_and_yields_nothing_is_judged() -> None:
    def program(x: Tensor) -> Tensor:
        out = torch.empty_like(x)
        double_into(x, out)
        return out.relu()

    def step(node: Node, args: Sequence[Any], run: Run) -> Any:
        value = run()
        if "double_into" in op_name(node):
            args[1].add_(1)
        return value

    report = compare(program, torch.rand(3, 4), step_by_step(step))
    assert blamed(report) == ("graphbreak_tests.double_into.default", 0)


def test_memory_that_nobody_has_written_to_may_hold_anything() -> None:
    def program(x: Tensor) -> Tensor:
        y = torch.empty(30, 4)
        y.copy_(x.mean())
        return (y.sum(0) + x.new_empty(4).fill_(1) + torch.empty_like(x).zero_()).sigmoid()

    def step(node: Node, _args: Sequence[Any], run: Run) -> Any:
        value = run()
        if "empty" in op_name(node):
            return value.fill_(7)
        return value * 1.25 if op_name(node) == "Tensor.sigmoid" else value

    assert blamed(compare(program, torch.rand(3, 4), step_by_step(step))) == ("Tensor.sigmoid", 0)


def test_a_write_to_the_data_of_a_tensor_is_seen() -> None:
    def program(x: Tensor) -> Tensor:
        y = x * 2
        y.data.mul_(3)
        return (y + 1).sigmoid()

    assert blamed(compare(program, torch.rand(3, 4), spoils("sigmoid"))) == ("Tensor.sigmoid", 0)


def test_gradients_inside_a_program_are_computed_when_it_is_judged() -> None:
    def program(x: Tensor) -> Tensor:
        gradient: Tensor = torch.func.grad(lambda t: torch.sin(t).sum())(x)
        return (gradient * 2).sigmoid()

    assert blamed(compare(program, torch.rand(4), spoils("sigmoid"))) == ("Tensor.sigmoid", 0)


def wrong_where_fused(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
    """A product and a sum are fused, and wrong, as long as nothing else takes the product."""
    products = (node for node in graph.graph.nodes if node.target is operator.mul and len(node.users) == 1)
    fused = {user for node in products for user in node.users if user.target is operator.add}

    class Fused(Interpreter):
        def run_node(self, n: Node) -> Any:
            value = super().run_node(n)
            return value * 1.25 if n in fused else value

    return lambda *arguments: Fused(graph).run(*arguments)


def test_operands_that_share_memory_do_so_when_an_op_is_judged() -> None:
    def program(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        a = x * y + 1.0
        v = a.view(-1).view(3, 4)
        a.add_(v)
        return a.tanh(), v

    report = compare(program, (torch.rand(3, 4), torch.rand(3, 4)), wrong_where_fused)
    assert report.first_difference is not None
    assert (report.first_difference.kind, report.first_difference.op) == ("unknown", None)


def test_an_op_is_not_called_the_first_if_some_before_it_could_not_be_judged() -> None:
    def program(x: Tensor, y: Tensor) -> Tensor:
        return (x * y + 1.0).abs().sqrt()

    def backend(graph: GraphModule, inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        for node in graph.graph.find_nodes(op="call_method", target="sqrt"):
            node.target = "exp"
        graph.recompile()
        return wrong_where_fused(graph, inputs)

    report = compare(program, (torch.rand(3, 4), torch.rand(3, 4)), backend)
    assert blamed(report) == ("Tensor.sqrt", 0)
    assert "In graph 1 of 1 (4 ops) an op that is computed wrongly is Tensor.sqrt" in told(report)
    assert "  2 ops before it could not be judged: while it is watched, something else differs, too" in told(report)


def test_of_a_region_whose_values_are_hidden_all_ops_are_named() -> None:
    def program(x: Tensor) -> Tensor:
        with torch.inference_mode():
            y = x.exp()
            z = torch.sin(y)
            return z + 1

    report = compare(program, torch.rand(3, 4), spoils("sin"))
    assert blamed(report) == ("one of the 3 ops from Tensor.exp to operator.add", 0)
    assert "In graph 1 of 1 (3 ops)" in told(report) and "(ops 1 to 3, " in told(report)


def test_every_value_that_leaves_a_region_is_judged() -> None:
    def program(x: Tensor) -> tuple[Tensor, Tensor]:
        with torch.inference_mode():
            y = torch.sin(x)
            z = x + 1
        return y.clone(), z.clone()

    assert blamed(compare(program, torch.rand(3, 4), spoils("sin"))) == (
        "one of the 2 ops from torch.sin to operator.add",
        0,
    )


def test_an_op_that_takes_a_wrong_number_is_not_blamed() -> None:
    def program(x: Tensor) -> Tensor:
        return x.sin() * (x.abs().max().item() + 1)

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        report = compare(program, torch.rand(3, 4), spoils("item"))
    assert report.first_difference is not None and report.first_difference.kind == "unknown"
    assert "1 of 4 ops could not be judged: it takes a number that Tensor.item computed" in told(report)


def test_a_write_to_a_copy_that_should_be_a_view_is_not_blamed_on_what_writes() -> None:
    def program(x: Tensor) -> Tensor:
        y = x * 2
        y[:, 1:3].mul_(3)
        return y.sum(0)

    def step(node: Node, _args: Sequence[Any], run: Run) -> Any:
        return run().clone() if node.target is operator.getitem else run()

    report = compare(program, torch.rand(3, 4), step_by_step(step))
    assert report.first_difference is not None and report.first_difference.op is None
    assert "y, which in eager shares the memory that Tensor.mul_ writes to, has other values than there" in told(report)


def test_inputs_that_are_exchanged_are_not_blamed_on_the_op_that_takes_them() -> None:
    def program(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
        return torch.relu(x @ y + z[0] * 2)

    def backend(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        return lambda x, y, z: graph(y, x, z)

    report = compare(program, (torch.rand(4, 4), torch.rand(4, 4), torch.rand(2)), backend)
    assert report.first_difference is not None and report.first_difference.kind == "copies"


def test_a_result_of_another_dtype_is_not_blamed_on_what_takes_it() -> None:
    def step(node: Node, _args: Sequence[Any], run: Run) -> Any:
        return run().double() if node.target is operator.mul else run()

    report = compare(lambda x: x.half() * 2 + 1, torch.rand(3, 4), step_by_step(step))
    assert blamed(report) == ("operator.mul", 0)


class Square(torch.autograd.Function):
    """Its backward is a graph inside the graph."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grads[0].mul(2 * x)


@pytest.mark.parametrize("given", [lambda graph: graph, copy.deepcopy], ids=["in place", "a copy"])
def test_a_graph_inside_the_graph_may_be_changed_in_place(given: Callable[[GraphModule], GraphModule]) -> None:
    def backend(graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        graph = given(graph)
        for inner in (each for each in graph.modules() if isinstance(each, GraphModule) and each is not graph):
            for node in inner.graph.find_nodes(op="call_function", target=operator.mul):
                node.args = tuple(3 if each == 2 else each for each in node.args)
            inner.recompile()
        return graph.forward

    def program(x: Tensor) -> Any:
        return Square.apply(x.sin()).tanh()  # type: ignore[no-untyped-call]

    report = compare(program, torch.rand(3, requires_grad=True), backend, gradients=True)
    assert blamed(report) == ("higher_order.autograd_function_apply", 0)
    assert report.first_difference is not None and report.first_difference.kind == "backward"


def named(name: str, change: Callable[[Sequence[Any], Run], Any]) -> Backend:
    """What is computed for every op of this name is what `change` gives for its operands."""

    def step(node: Node, args: Sequence[Any], run: Run) -> Any:
        return change(args, run) if op_name(node).rpartition(".")[2] == name else run()

    return step_by_step(step)


def overwritten(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    return (y + 1) * 1, y.sin()


def copied(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    z = y.clone()
    z.add_(1)
    return y.exp(), z * 3


def copied_integers(x: Tensor) -> tuple[Tensor, Tensor]:
    return x * 2, x.argmax(1).clone() * 3


def read_only_operand(x: Tensor) -> Tensor:
    y = x * 2
    y.view(3, 4).add_(y)
    return y.sin()


def strided(x: Tensor) -> Tensor:
    return (x * 2).t().as_strided((2, 2), (1, 2)) + 1


def split(x: Tensor) -> tuple[Tensor, Tensor]:
    one, two = torch.chunk(x * 2, 2)
    return one.sin(), two.cos()


def written(x: Tensor) -> Tensor:
    x.clamp_(0, 1)
    return x + 1


def written_inside(x: Tensor) -> Tensor:
    x.add_(1)
    return x * 2


def uninitialised(x: Tensor) -> Tensor:
    y = torch.empty(3, 4, dtype=torch.float64)
    y.copy_(x)
    return y + 1


def random_twice(x: Tensor) -> Tensor:
    return torch.nn.functional.dropout((x + torch.rand_like(x)).sin(), 0.5, True)


def indexed(x: Tensor) -> Tensor:
    return torch.index_select(x, 1, x.argmax(1)) + 1


def half_the_size(x: Tensor) -> Tensor:
    return (x * (x.shape[0] // 2)).sin()


@pytest.mark.parametrize(
    ("program", "backend", "op", "says"),
    [
        (
            overwritten,
            named("add", lambda args, _run: args[0].add_(args[1])),
            None,
            "y, which it takes, changes while operator.add (node ",
        ),
        (copied, named("clone", lambda args, _run: args[0]), None, "the backend leaves copies out"),
        (
            copied_integers,
            named("clone", lambda args, run: run() + (not args[0].is_floating_point())),
            None,
            "even what is only passed on comes back changed",
        ),
        (
            read_only_operand,
            named("view", lambda _args, run: run().clone()),
            None,
            "y, which in eager shares the memory that Tensor.add_ writes to, has other values than there",
        ),
        (strided, named("t", lambda _args, run: run().contiguous()), None, "it reads the memory of its operand"),
        (split, named("getitem", lambda args, _run: args[0][0]), None, "it, or what picks it, is wrong"),
        (
            split,
            step_by_step(
                lambda node, args, run: (
                    args[0][0]
                    if node.target is operator.getitem and any(op_name(user) == "Tensor.cos" for user in node.users)
                    else run()
                )
            ),
            "operator.getitem",
            "(4 ops)",
        ),
        (written, named("clamp_", lambda args, _run: args[0].mul_(0.5)), "Tensor.clamp_", ""),
        (
            written_inside,
            lambda graph, _inputs, **_: lambda *args: graph(*(each.clone() for each in args)),
            None,
            "what the backend returns, or writes to an input, is not what it computed",
        ),
        (uninitialised, named("empty", lambda _args, run: run().float()), "torch.empty", "dtype float32 instead of"),
        (
            random_twice,
            named("rand_like", lambda _args, run: (run(), torch.rand(3))[0]),
            None,
            "the backend draws random numbers from torch's generators that eager does not draw",
        ),
        (
            indexed,
            step_by_step(
                lambda node, args, run: (
                    run() + 10
                    if op_name(node) == "Tensor.argmax"
                    else torch.index_select(args[0], args[1], args[2].clamp(max=3))
                    if op_name(node) == "torch.index_select"
                    else run()
                )
            ),
            "Tensor.argmax",
            "(3 ops)",
        ),
        (
            half_the_size,
            named("floordiv", lambda _args, run: run() + 1),
            None,
            "it takes a number from operator.floordiv, which gives 2 instead of 1",
        ),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_nothing_false_is_said(program: Callable[..., Any], backend: Backend, op: str | None, says: str) -> None:
    x = torch.tensor([[0.1, 0.2, 0.3, 0.9], [0.1, 0.9, 0.3, 0.4], [0.5, 0.6, 0.9, 0.8]])
    with torch._dynamo.config.patch(assume_static_by_default=program is not half_the_size):
        report = compare(program, x, backend)
    assert report.first_difference is not None, report.summary()
    assert (report.first_difference.op and report.first_difference.op.name) == op, report.summary()
    assert says in report.summary() or says in told(report)


def test_other_ops_that_are_right_alone_are_not_said_to_be_wrong() -> None:
    def program(x: Tensor) -> Tensor:
        return (x * (x.cos() > -5)).exp().tanh().sigmoid()

    def backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> Callable[..., Any]:
        many = len(graph.graph.output_node().args[0]) > 7  # type: ignore[arg-type]
        return spoils("tanh", *["cos"] * many)(graph, inputs, **keywords)

    report = compare(program, torch.rand(3, 4), backend)
    assert blamed(report) == ("Tensor.tanh", 0)
    assert "1 op before it could not be judged: Tensor.cos is wrong while others are watched, too" in told(report)


def test_a_kink_between_two_right_values_is_no_wrong_backward() -> None:
    def program(x: Tensor) -> Tensor:
        return torch.relu(x * 0.5).sum(0)

    x = torch.tensor([[-1.0, 2.0, 0.0, -1e-6]], requires_grad=True)
    report = compare(program, x, named("mul", lambda _args, run: run() + 2e-6), gradients=True)
    assert report.first_difference is not None and report.first_difference.op is None
    assert "the backward of torch.relu is right for the values that the backend computed" in told(report)


class TwiceTheFirst(torch.autograd.Function):
    """A product whose first factor has twice its gradient."""

    @staticmethod
    def forward(ctx: Any, one: Tensor, other: Tensor) -> Tensor:
        ctx.save_for_backward(one, other)
        return one * other

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        one, other = ctx.saved_tensors
        return grads[0] * other * 2, grads[0] * one


def test_an_argument_and_a_parameter_of_one_name_are_told_apart() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = torch.nn.Parameter(torch.rand(4))

        def forward(self, a: Tensor) -> Tensor:
            return torch.mul(a, self.a).tanh()

    backend = named("mul", lambda args, _run: TwiceTheFirst.apply(*args))  # type: ignore[no-untyped-call]
    report = compare(Model(), torch.rand(4, requires_grad=True), backend, gradients=True)
    assert blamed(report) == ("torch.mul", 0)


def test_an_input_without_elements_shares_no_memory_with_its_copy() -> None:
    def program(x: Tensor, y: Tensor) -> Tensor:
        return torch.cat([x, y]).sin()

    assert blamed(compare(program, (torch.rand(3), torch.rand(0)), spoils("cat"))) == ("torch.cat", 0)
