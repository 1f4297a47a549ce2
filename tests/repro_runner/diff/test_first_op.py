"""The op that a backend computes wrongly: always the right one, or none."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch
from torch.fx import GraphModule, Interpreter, Node

from repro_runner.diff import ComparisonConfig, FirstDifference, KernelDiffHarness
from repro_runner.diff.execution import random_like
from repro_runner.diff.gradient_sums import unlike_sum
from tests.repro_runner.diff.wrong_backends import (
    Truth,
    adding,
    doubles_gradients_of_additions,
    lowering,
    replaced,
    returning,
)
from tests.repro_runner.diff.wrong_backends import called as spoiled_ops
from tests.scheduling import sampled

pytestmark = pytest.mark.torch

Change = Callable[[torch.Tensor], torch.Tensor]
ONCE = ComparisonConfig(repeats=1)


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def spoiled(value: torch.Tensor) -> torch.Tensor:
    """Each element by another amount: softmax and layer_norm don't see what is added to all."""
    if value.dtype == torch.bool:
        return ~value
    return value + torch.linspace(1, 2, value.numel()).to(value.dtype).reshape(value.shape)


class Corrupting:
    """A backend that runs a graph eagerly, and spoils the value of the `nth` call of `target`, whatever the graph.
    In graphs of fewer than `least_ops` it behaves."""

    def __init__(
        self, target: str, nth: int = 1, change: Change = spoiled, least_ops: int = 0, most_ops: int = 999
    ) -> None:
        self._target, self._nth, self._change = target, nth, change
        self._least_ops, self._most_ops = least_ops, most_ops

    def __call__(self, graph: GraphModule, _inputs: Sequence[Any], **_: Any) -> Callable[..., Any]:
        calls = sum(node.op.startswith("call") for node in graph.graph.nodes)
        if not self._least_ops <= calls <= self._most_ops:
            return graph.forward
        return lambda *arguments: _Spoiler(graph, self._target, self._nth, self._change).run(*arguments)


class _Spoiler(Interpreter):
    def __init__(self, graph: GraphModule, target: str, nth: int, change: Change) -> None:
        super().__init__(graph)
        self._target, self._nth, self._change = target, nth, change
        self._seen: Counter[str] = Counter()

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        self._seen[called(n)] += 1
        if called(n) != self._target or self._seen[called(n)] != self._nth:
            return value
        if called(n).endswith("_"):  # in place: the tensor it was called on, too
            with torch.no_grad():
                return value.copy_(self._change(value))
        return (self._change(value[0]), *value[1:]) if isinstance(value, tuple) else self._change(value)


def called(node: Node) -> str:
    return str(getattr(node.target, "__name__", node.target)) if node.op.startswith("call") else node.op


def first_difference(
    program: Callable[..., Any], inputs: Any, backend: Any, config: ComparisonConfig = ONCE
) -> FirstDifference:
    report = KernelDiffHarness(program, inputs, test_backend=backend, comparison_config=config).compare()
    assert not report.passed
    assert report.first_difference is not None
    return report.first_difference


def thirty_ops(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    a = torch.matmul(x, w)
    a = torch.relu(a)
    b = torch.tanh(x)
    a = a + b
    c = torch.sigmoid(a)
    d = torch.matmul(c, w)
    e = torch.softmax(d, -1)
    f = e.transpose(0, 1)
    g = torch.matmul(f, x)
    h = torch.exp(g * 0.1)
    j = torch.cat([h, b], 0)
    k, m = j.chunk(2, 0)
    n = k + m
    o = torch.abs(n)
    o.mul_(2.0)
    p = torch.nn.functional.layer_norm(o, (4,))
    q = torch.nn.functional.gelu(p)
    r = q.reshape(2, 8)
    s = r.sum(1, keepdim=True)
    t = r / (s.abs() + 1.0)
    u = torch.where(t > 0.1, t, 0.1 * t)
    v = u.view(4, 4)
    y = torch.matmul(v, w)
    return torch.relu(y + x)


def square() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(4, 4, generator=generator), torch.randn(4, 4, generator=generator)


def ops_of(program: Callable[..., Any], inputs: Sequence[torch.Tensor]) -> list[tuple[str, int, str]]:
    """(target, which of its calls, node name) of each op that is one: picking an item of a tuple is not."""
    found: list[tuple[str, int, str]] = []

    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        seen: Counter[str] = Counter()
        for node in graph.graph.nodes:
            if node.op.startswith("call"):
                seen[called(node)] += 1
                if not (node.target is operator.getitem and called(node.args[0]) == "chunk"):
                    found.append((called(node), seen[called(node)], node.name))
        return graph.forward

    torch.compile(program, backend=backend, fullgraph=True)(*inputs)
    return found


@pytest.fixture(scope="module")
def thirty() -> list[tuple[str, int, str]]:
    found = ops_of(thirty_ops, square())
    assert len(found) == 30
    return found


@pytest.mark.parametrize("k", sampled(30, 2))
def test_each_op_of_thirty_is_named_when_it_alone_is_corrupted(k: int, thirty: list[tuple[str, int, str]]) -> None:
    target, nth, node = thirty[k]
    found = first_difference(thirty_ops, square(), Corrupting(target, nth))
    assert found.op is not None
    assert (found.kind, found.op.node, found.op.position, found.ops) == ("op", node, k + 1, 30)
    assert (found.compiled, found.others) == (4, 0)
    assert found.op.source.startswith(f"{__file__}:")
    assert found.difference is not None and not found.difference.passed


def test_the_op_is_described_by_its_line_and_what_it_takes() -> None:
    found = first_difference(thirty_ops, square(), Corrupting("cat"))
    lines, start = inspect.getsourcelines(thirty_ops)
    line = start + next(place for place, text in enumerate(lines) if "torch.cat" in text)
    assert found.op is not None
    assert (found.op.name, found.op.source) == ("torch.cat", f"{__file__}:{line}")
    assert [str(each) for each in found.op.operands] == ["h: float32[4, 4]", "b: float32[4, 4]"]
    assert found.difference is not None and found.difference.comparison is not None
    assert found.difference.comparison.shape == (8, 4)


# A difference may vanish, or come and go.


def test_a_difference_that_vanishes_further_on_is_found_where_it_first_was() -> None:
    """`-5` of a negative number is gone after relu; what differs at the end is another op's doing."""

    def program(x: torch.Tensor) -> torch.Tensor:
        y = torch.neg(x)
        y = torch.relu(y)
        for _ in range(10):
            y = y + 1
        return torch.sin(y)

    class Both(_Spoiler):
        def run_node(self, n: Node) -> Any:
            value = Interpreter.run_node(self, n)
            return value - 5 if called(n) in ("neg", "sin") else value

    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: Both(graph, "", 0, spoiled).run(*arguments)

    found = first_difference(program, torch.rand(4) + 1, backend)
    assert (found.kind, found.op and found.op.name, found.others) == ("op", "torch.neg", 1)


def test_an_op_that_is_wrong_for_some_values_only_is_found() -> None:
    def wrong_above_two(value: torch.Tensor) -> torch.Tensor:
        return torch.where(value > 2, value + 1, value)

    def program(x: torch.Tensor) -> torch.Tensor:
        for _ in range(5):
            x = torch.exp(x * 0.5)
        return x

    found = first_difference(program, torch.zeros(3), Corrupting("exp", 4, change=wrong_above_two))
    assert found.op is not None
    assert (found.kind, found.op.name, found.op.position) == ("op", "torch.exp", 8)


@pytest.mark.parametrize("target", ["tanh", "cat"])
def test_an_op_that_is_wrong_only_in_large_graphs_is_found(target: str) -> None:
    found = first_difference(thirty_ops, square(), Corrupting(target, least_ops=32))
    assert (found.kind, found.op and found.op.name) == ("op", f"torch.{target}")


def test_a_backend_that_spoils_what_it_returns_is_told_from_one_that_computes_wrongly() -> None:
    def spoils_all(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: [spoiled(value) for value in graph(*arguments)]

    def spoils_the_first(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: [spoiled(value) if at == 0 else value for at, value in enumerate(graph(*arguments))]

    assert first_difference(thirty_ops, square(), spoils_all).kind == "copies"
    found = first_difference(thirty_ops, square(), spoils_the_first)
    assert (found.kind, found.op, found.difference and found.difference.name) == ("outputs", None, "output 0")


def only_fused(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
    """A graph with one output stands for a fused kernel."""
    outputs = graph.graph.output_node().args[0]
    fused = isinstance(outputs, tuple | list) and len(outputs) == 1
    return Corrupting("mul", nth=2)(graph, inputs) if fused else graph.forward


def test_ops_that_are_wrong_only_when_fused_are_blamed_on_no_op() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.sin((x * 2.0 + 1.0) * 3.0) + 1.0

    found = first_difference(program, torch.rand(4), only_fused)
    assert (found.kind, found.op) == ("unknown", None)
    assert "4 of 5 ops could not be judged: while it is watched, the difference vanishes" in found.open


def test_an_error_that_adds_up_is_not_blamed_on_the_op_alone() -> None:
    def a_little(value: torch.Tensor) -> torch.Tensor:
        return value + 4e-6

    class EachAdd(_Spoiler):
        def run_node(self, n: Node) -> Any:
            value = Interpreter.run_node(self, n)
            return a_little(value) if called(n) == "add" else value

    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: EachAdd(graph, "", 0, spoiled).run(*arguments)

    def program(x: torch.Tensor) -> torch.Tensor:
        return x + 0.0 + 0.0 + 0.0 + 0.0

    found = first_difference(program, torch.zeros(4), backend)
    assert (found.kind, found.op) == ("adds up", None)


# Long graphs, several graphs, graphs that can't be cut.


def chain(x: torch.Tensor) -> torch.Tensor:
    for _ in range(50):
        x = torch.relu(x) + 0.5
    return x


@pytest.mark.parametrize("nth", [1, 25, 50])
def test_a_long_graph_takes_few_compilations(nth: int) -> None:
    found = first_difference(chain, torch.rand(4), Corrupting("relu", nth))
    assert (found.kind, found.op and found.op.position, found.compiled <= 4) == ("op", 2 * nth - 1, True)


@pytest.mark.parametrize("most", [1, 8])
def test_where_the_backend_takes_few_outputs_few_ops_are_watched_at_a_time(most: int) -> None:
    def backend(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        outputs = graph.graph.output_node().args[0]
        if isinstance(outputs, tuple) and len(outputs) > most:
            raise MemoryError("too many outputs")
        return Corrupting("relu", 17)(graph, inputs)

    found = first_difference(chain, torch.rand(4), backend)
    if most == 1:
        assert (found.kind, found.op) == ("unknown", None)
        assert any("MemoryError: too many outputs" in sentence for sentence in found.open)
    else:
        assert (found.kind, found.op and found.op.position) == ("op", 33)


def test_the_graph_is_named_and_a_graph_that_only_gets_wrong_inputs_is_not() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        x = torch.sin(x) + 1
        torch._dynamo.graph_break()
        x = torch.cos(x) * 2
        torch._dynamo.graph_break()
        return torch.tanh(x) - 3

    report = KernelDiffHarness(program, torch.rand(4), test_backend=Corrupting("cos"), comparison_config=ONCE).compare()
    found = report.first_difference
    assert found is not None and found.op is not None
    assert (report.graphs, found.graph, found.kind, found.op.name) == (3, 1, "op", "torch.cos")
    assert "graph 2 of 3" in report.summary()


def test_a_graph_that_differs_only_in_a_later_call_is_found() -> None:
    def wrong_above_two(value: torch.Tensor) -> torch.Tensor:
        return torch.where(value > 2, value + 1, value)

    @torch._dynamo.disable  # type: ignore[untyped-decorator]
    def between(x: torch.Tensor) -> torch.Tensor:
        return x

    def step(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) + 0.75

    def program(x: torch.Tensor) -> torch.Tensor:
        for _ in range(4):
            x = between(step(x))
        return x

    found = first_difference(program, torch.zeros(3), Corrupting("relu", change=wrong_above_two))
    assert (found.kind, found.op and found.op.name) == ("op", "torch.relu")


def test_a_difference_outside_every_graph_is_said_to_be_there() -> None:
    """Python code that behaves unlike when it is compiled."""

    def program(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if torch.compiler.is_compiling() else x + 2

    found = first_difference(program, torch.rand(4), Corrupting("none of them"))
    assert (found.kind, found.op) == ("outside", None)


def test_a_backend_that_fails_on_every_graph_that_is_watched_is_reported() -> None:
    def backend(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        if sum(node.op.startswith("call") for node in graph.graph.nodes) > 32:
            raise RuntimeError("no more than this")
        return Corrupting("cat")(graph, inputs)

    report = KernelDiffHarness(thirty_ops, square(), test_backend=backend, comparison_config=ONCE).compare()
    assert report.first_difference is not None and report.first_difference.kind == "unknown"
    assert "the backend failed on the graph that is watched: RuntimeError: no more than this" in report.summary()


# What graphs are made of.


def test_what_an_op_writes_into_a_buffer_counts_as_its_output() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU())

    class WrongStatistics(_Spoiler):
        def run_node(self, n: Node) -> Any:
            value = Interpreter.run_node(self, n)
            if called(n) == "batch_norm":
                self.fetch_args_kwargs_from_env(n)[0][1].add_(1)
            return value

    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: WrongStatistics(graph, "", 0, spoiled).run(*arguments)

    found = first_difference(model, torch.rand(8, 4), backend)
    assert found.op is not None and found.difference is not None
    assert (found.kind, found.op.name) == ("op", "torch.nn.functional.batch_norm")
    assert found.difference.part == "effect" and found.difference.name.startswith("what it writes to ")


@pytest.mark.parametrize(
    ("target", "nth", "name"),
    [
        ("max", 1, "torch.max"),
        ("relu_", 1, "torch.relu_"),
        ("transpose", 1, "Tensor.transpose"),
        ("matmul", 2, "torch.matmul"),
    ],
)
def test_ops_with_several_outputs_in_place_and_views_in_autocast_and_no_grad(target: str, nth: int, name: str) -> None:
    def program(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = torch.matmul(x, x)
            torch.relu_(y)
            with torch.no_grad():
                y = torch.matmul(y, x.transpose(0, 1))
        values, places = torch.max(y, dim=1)
        return values, places + 1

    found = first_difference(program, torch.rand(4, 4, requires_grad=True), Corrupting(target, nth))
    assert (found.kind, found.op and found.op.name) == ("op", name)
    assert torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")


def test_what_vmap_maps_can_not_be_cut_and_all_of_its_ops_are_named() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = torch.vmap(lambda row: row.sin().sum())(x + 1)
        return torch.exp(y)

    found = first_difference(program, torch.rand(3, 4), Corrupting("sin"))
    assert found.op is not None
    assert (found.kind, found.ops) == ("op", 4)
    assert (found.op.name, found.op.position) == ("one of the 2 ops from Tensor.sin to Tensor.sum", 2)
    assert found.op.source.startswith(__file__)


def test_random_ops_draw_the_same_numbers_in_every_prefix() -> None:
    model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Linear(4, 4), torch.nn.Dropout(0.5))
    found = first_difference(model, torch.rand(8, 4), Corrupting("linear"))
    assert (found.kind, found.op and found.op.name) == ("op", "torch._C._nn.linear")


def test_an_op_whose_backward_is_wrong_is_found_by_the_gradients() -> None:
    class WrongTanh(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x.tanh())
            return x.tanh()

        @staticmethod
        def backward(ctx: Any, *grads: torch.Tensor) -> torch.Tensor:
            (y,) = ctx.saved_tensors
            return torch.mul(grads[0], 1 - y)

    class Wrong(_Spoiler):
        def run_node(self, n: Node) -> Any:
            if called(n) == "tanh":
                return WrongTanh.apply(self.fetch_args_kwargs_from_env(n)[0][0])  # type: ignore[no-untyped-call]
            return Interpreter.run_node(self, n)

    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: Wrong(graph, "", 0, spoiled).run(*arguments)

    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.exp(torch.tanh(torch.sin(x) * 2) + 1)

    config = ComparisonConfig(repeats=1, gradients=True)
    found = first_difference(program, torch.rand(4, requires_grad=True), backend, config)
    assert found.op is not None and found.difference is not None
    assert (found.kind, found.op.name, found.difference.name) == ("backward", "torch.tanh", "gradient of mul")
    assert KernelDiffHarness(program, torch.rand(4, requires_grad=True), test_backend=backend).compare().passed


# Inputs of a graph have the names that the user gave them.


class Named(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4)])
        self.scale = torch.nn.Buffer(torch.rand(4))

    def forward(self, x: torch.Tensor, more: dict[str, torch.Tensor]) -> torch.Tensor:
        y = self.layers[0](x)
        x = torch.addcmul(y, x, self.scale)
        return torch.addcdiv(x, y, more["b"])


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("linear", ["input x", "layers.0.weight", "layers.0.bias"]),
        ("addcmul", ["y", "input x", "scale"]),
        ("addcdiv", ["x", "y", "more['b']"]),
    ],
)
def test_the_inputs_of_a_graph_are_named_by_what_they_are(target: str, names: list[str]) -> None:
    found = first_difference(Named(), (torch.rand(4, 4), {"b": torch.rand(4, 4) + 1}), Corrupting(target))
    assert found.op is not None and [each.name for each in found.op.operands] == names


def test_an_input_that_is_changed_is_named_by_what_it_is() -> None:
    def backend(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: (graph(*arguments), arguments[0].add_(1))[0]

    with torch.no_grad():
        found = first_difference(torch.nn.Sequential(torch.nn.Linear(4, 4)), torch.rand(4, 4), backend)
    assert found.difference is not None
    assert (found.kind, found.difference.name) == ("writes", "what it writes to 0.weight")


# Gradients of a value with several uses are added up.


def rich(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Uses of all kinds: twice by one op, without a gradient, by its size, as an item, through views, as an output."""
    y = torch.sin(x)
    with torch.no_grad():
        z, view = y * 2, y[0]
    y = torch.nn.functional.dropout(y, training=False)
    first, second, third = torch.chunk(torch.cat([y * y, z * w, y.view(4, 4).t()]), 3)
    picked = first[0] + second[1] + y.detach()[2] + third.sum() / y.size(0)
    total = picked * w + torch.nn.functional.linear(first, w) + (first + second).expand(4, 4) * b
    with torch.autocast("cpu", dtype=torch.bfloat16):
        half = torch.nn.functional.linear(total, w) @ w
    return total, half.float() + z + view, torch.fft.fft(y).abs().sum() + torch.tanh(b).sum()


def leaves() -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(4, 4, generator=generator).requires_grad_() for _ in range(3))


GRADIENTS = ComparisonConfig(repeats=1, gradients=True)


def test_a_gradient_that_is_returned_wrongly_is_the_only_one_that_is_no_sum() -> None:
    """All other values of the graph have the sums of their uses, whatever these are."""

    def spoil_the_last(gradients: list[Any]) -> list[Any]:
        at = max(at for at, each in enumerate(gradients) if isinstance(each, torch.Tensor) and each.shape == (4, 4))
        return replaced(gradients, at, spoiled(gradients[at]))

    class Own:
        """Spoils gradients only in graphs without zeros: these come last."""

        def __call__(self, graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
            names = [node.name for node in graph.graph.find_nodes(op="placeholder")]
            own = sum(not name.startswith("zero_") for name in names)
            change = lambda gradients: [*spoil_the_last(gradients[:own]), *gradients[own:]]  # noqa: E731
            return returning(change)(Truth())(graph, inputs)

    found = first_difference(rich, leaves(), Own(), GRADIENTS)
    assert (found.kind, found.others, found.aten) == ("sum", 0, False), found
    assert found.difference is not None and found.difference.name == "gradient of b"
    assert [use.name for use in found.uses] == ["operator.mul", "torch.tanh"]


def without_the_second(one: torch.Tensor, _other: torch.Tensor) -> torch.Tensor:
    return one


def several_uses(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.sin(x * w)
    return torch.exp(y) + torch.cos(y)


def returned_and_used(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = torch.sin(x * w)
    return y, torch.exp(y)


def taken_twice(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.sin(x * w)
    return y * y


def tied(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x @ w) @ w.t()


def items(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    one, two = torch.sin(x * w).chunk(2)
    return torch.exp(one) + one.t().reshape(2, 4) + two


def written(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.sin(x * w)
    y = y.mul_(2) + 1
    return torch.exp(y) + torch.cos(y)


def written_and_tied(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.mm(x, w).mul_(2) @ w.t()


@pytest.mark.parametrize(
    ("program", "name", "uses", "aten"),
    [
        (several_uses, "gradient of y", ["torch.exp", "torch.cos"], False),
        (returned_and_used, "gradient of y", ["torch.exp"], False),
        (tied, "gradient of w", ["operator.matmul", "Tensor.t"], False),
        (taken_twice, "gradient of y", ["operator.mul"], False),
        pytest.param(items, "gradient of one", ["torch.exp", "Tensor.t"], False, marks=pytest.mark.prove),
        pytest.param(
            written, "gradient of add", ["aten.exp.default", "aten.cos.default"], True, marks=pytest.mark.prove
        ),
        (written_and_tied, "gradient of w", ["aten.mm.default", "aten.t.default"], True),
    ],
)
def test_a_wrong_sum_of_gradients_is_named_with_the_uses(
    program: Callable[..., Any], name: str, uses: list[str], aten: bool
) -> None:
    report = KernelDiffHarness(
        program, leaves()[:2], test_backend=adding(without_the_second)(Truth()), comparison_config=GRADIENTS
    ).compare()
    found = report.first_difference
    assert found is not None and found.difference is not None
    assert (found.kind, found.difference.name, found.op, found.aten) == ("sum", name, None, aten), report.summary()
    assert [use.name for use in found.uses] == uses
    assert all(use.source.startswith(__file__) for use in found.uses)
    if program is written_and_tied:
        assert [str(each) for each in found.uses[0].operands] == ["x: float32[4, 4]", "w: float32[4, 4]"]
    assert f"the {name} is not the sum" in report.summary() and found.to_document()["uses"]
    assert ("The graph returns the value, too" in report.summary()) == (program is returned_and_used)


def test_an_aten_graph_that_differs_in_another_way_proves_nothing() -> None:
    def backend(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        is_aten = any("aten" in str(node.target) for node in graph.graph.nodes)
        spoiled_op = "aten.cos" if is_aten else "tanh_backward"
        return lowering(backward=spoiled_ops(spoiled_op))(Truth())(graph, inputs)

    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.tanh(torch.sin(x * w).mul_(2))

    found = first_difference(program, leaves()[:2], backend, GRADIENTS)
    assert (found.kind, found.op) == ("unknown", None)
    assert "the same graph in aten ops differs in another way" in found.open


def test_an_output_that_is_a_view_of_another_is_not_judged() -> None:
    """With a zero added it is no view any more: the graph that is watched adds up other gradients."""

    def program(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.sin(x * w)
        z = y.t()
        return torch.exp(z), y, z

    found = first_difference(program, leaves()[:2], adding(without_the_second)(Truth()), GRADIENTS)
    assert (found.kind, found.op) == ("unknown", None)


def summed(terms: Sequence[torch.Tensor]) -> torch.Tensor:
    """As a backend may: one after the other, each sum rounded."""
    return functools.reduce(torch.add, terms)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64])
@pytest.mark.parametrize("number", [1, 2, 100])
def test_a_sum_may_be_rounded_and_its_terms_may_cancel_each_other_out(dtype: torch.dtype, number: int) -> None:
    generator = torch.Generator().manual_seed(number)
    terms = [random_like(torch.empty(50, dtype=dtype), generator) * 30 for _ in range(number)]
    terms = [*terms, *(-each for each in terms), torch.full((50,), 0.001).to(dtype)]
    assert unlike_sum("x", summed(terms), terms, ONCE) is None
    assert unlike_sum("x", summed(terms[::-1]), terms, ONCE) is None
    one_more = unlike_sum("x", summed([*terms, terms[0]]), terms, ONCE)
    rounding_hides_it = number == 100 and dtype.itemsize == 2
    assert (one_more is None) == rounding_hides_it


@pytest.mark.parametrize(
    ("total", "terms", "differs"),
    [
        ([1.0], [[1.0]], False),
        ([math.nan], [[1.0], [2.0]], True),
        ([math.inf], [[1.0], [2.0]], True),
        ([1.0], [[math.inf], [2.0]], False),
        ([math.nan], [[math.inf], [-math.inf]], False),
        ([math.inf], [[3e38], [3e38]], False),
        ([[1.0]], [[1.0]], False),
    ],
    ids=["one", "NaN", "infinite", "an infinite term", "infinite terms", "too large", "another shape"],
)
def test_only_what_must_be_a_sum_is_held_against_it(
    total: list[float], terms: list[list[float]], differs: bool
) -> None:
    found = unlike_sum("x", torch.tensor(total), [torch.tensor(each) for each in terms], ONCE)
    assert (found is not None) == differs


def test_where_zeros_have_other_gradients_than_what_they_are_added_to_no_op_is_blamed() -> None:
    found = first_difference(several_uses, leaves()[:2], doubles_gradients_of_additions(Truth()), GRADIENTS)
    assert (found.kind, found.op) == ("copies", None)
    assert "a zero that is added to a value has another gradient" in found.open[0]
