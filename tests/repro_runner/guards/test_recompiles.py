"""Why a call was compiled again: what changed, from what to what, and the user's line that looks at it."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from repro_runner.guards import GuardInspector, GuardReport, Recompile

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def scaled(x: torch.Tensor, n: Any) -> Any:
    return x * n


def chosen(x: torch.Tensor, how: Any) -> torch.Tensor:
    return x * 2 if how in (True, "double", None) else x * 3


def added(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def total(xs: list[torch.Tensor]) -> Any:
    return sum(xs)


def summed(x: torch.Tensor, weights: dict[str, float]) -> torch.Tensor:
    return x * sum(weights.values())


def applied(x: torch.Tensor, fn: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    return fn(x)


def adding(k: Any) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: x + k


def repeated(x: torch.Tensor, n: int) -> torch.Tensor:
    for _ in range(n):
        x = x + 1
    return x


def halves(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if x.shape[0] % 2 == 0 else x * 3


def sums(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.sum() + y.sum()


FACTOR: Any = 2


def by_global(x: torch.Tensor) -> Any:
    return x * FACTOR


class Counting(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.step += 1
        return x * self.step


class Weighted(torch.nn.Module):
    def __init__(self, weight: Any = 2) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, x: torch.Tensor) -> Any:
        return x * self.weight


class Dropping(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = torch.nn.Dropout()

    def forward(self, x: torch.Tensor) -> Any:
        return self.drop(x) + 1


class Buffered(torch.nn.Module):
    mean: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.mean.sum()


class Collecting(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cache = torch.zeros(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.cache = torch.cat([self.cache, x])
        return self.cache.sum()


def t(*shape: int, **more: Any) -> torch.Tensor:
    return torch.ones(*shape, **more)


def under(context: Callable[[], Any]) -> Callable[[Any], None]:
    def call(model: Any) -> None:
        with context():
            model(t(4))

    return call


def setting(name: str, value: Any) -> Callable[[Any], None]:
    def call(model: Any) -> None:
        setattr(model, name, value)
        model(t(4))

    return call


def with_global(value: Any) -> Callable[[Any], None]:
    def call(model: Any) -> None:
        global FACTOR
        before, FACTOR = FACTOR, value
        try:
            model(t(4))
        finally:
            FACTOR = before

    return call


def evaluating(model: Any) -> None:
    model.eval()
    model(t(4))


def with_inference_tensor(model: Any) -> None:
    with torch.inference_mode():
        made = t(4)
    model(made)


def conjugated(model: Any) -> None:
    model(torch.conj(t(4) * 1j))


@dataclass(frozen=True)
class Case:
    """A program, calls that make torch compile it again, and what changed."""

    name: str
    program: Any
    calls: Sequence[Any]
    aspect: str
    words: str
    count: int = 1

    def inspect(self, **options: Any) -> GuardReport:
        program = self.program() if isinstance(self.program, type) else self.program
        return GuardInspector(program, **options).inspect(calls=self.calls)


SHARED = t(4)
CASES = [
    Case("size", double, [t(4, 8), t(5, 8), t(6, 8)], "size", "dimension 0 of x was 4, now 5"),
    Case("inner size", double, [t(4, 8), t(4, 9)], "size", "dimension 1 of x was 8, now 9"),
    Case("two sizes", added, [(t(4), t(4)), (t(5), t(5))], "size",
         "dimension 0 of x was 4, now 5; dimension 0 of y was 4, now 5"),
    Case("size to one", double, [t(4), t(1)], "size", "dimension 0 of x was 4, now 1"),
    Case("size of a buffer", Buffered, [t(4), setting("mean", t(5))], "size", "dimension 0 of self.mean was 3, now 5"),
    Case("size of an attribute", Collecting, [t(4, 3), t(4, 3)], "size", "dimension 0 of self.cache was 4, now 8"),
    Case("rank", double, [t(4), t(4, 1)], "rank", "the number of dimensions of x was 1, now 2"),
    Case("dtype", double, [t(4), t(4).double()], "dtype", "the dtype of x was float32, now float64"),
    Case("device", double, [t(4), t(4, device="meta")], "device", "the device of x was cpu, now meta"),
    Case("requires_grad", double, [t(4), t(4).requires_grad_()], "requires_grad",
         "x.requires_grad was False, now True"),
    Case("strides", double, [t(4, 8), t(8, 4).t()], "layout", "x was contiguous, now transposed to the order [1, 0]"),
    Case("gaps", double, [t(4, 8), t(4, 16)[:, ::2]], "layout", "x was contiguous, now with strides [16, 2]"),
    Case("class of tensor", double, [t(4), torch.nn.Parameter(t(4), requires_grad=False)], "tensor class",
         "the class of x was Tensor, now Parameter"),
    Case("inference tensor", double, [t(4), with_inference_tensor], "inference",
         "x.is_inference() was False, now True"),
    Case("conjugated", double, [t(4) * 1j, conjugated], "dispatch", "the dispatch of x was DispatchKeySet("),
    Case("no tensor", scaled, [(t(4), t(4)), (t(4), 2)], "type",
         "n was a float32 tensor of shape [4] on cpu that does not require grad, now object of class int"),
    Case("int", scaled, [(t(4), 2), (t(4), 3), (t(4), 4)], "value", "n was 2, now 3"),
    Case("float", scaled, [(t(4), 2.5), (t(4), 3.5), (t(4), 4.5)], "value", "n was 2.5, now 3.5"),
    Case("int to float", scaled, [(t(4), 2), (t(4), 2.0)], "value", "n was 2, now 2.0"),
    Case("bool", chosen, [(t(4), True), (t(4), False)], "value", "how was True, now False"),
    Case("string", chosen, [(t(4), "double"), (t(4), "triple")], "value", "how was 'double', now 'triple'"),
    Case("none", chosen, [(t(4), None), (t(4), 3)], "value", "how was None, now 3"),
    Case("number of loops", repeated, [(t(4), 2), (t(4), 3), (t(4), 4)], "value", "n was 2, now 3"),
    Case("length of a list", total, [([t(4), t(4)],), ([t(4), t(4), t(4)],)], "length", "xs had 2 items, now 3 items"),
    Case("keys of a dict", summed, [(t(4), {"a": 1.0}), (t(4), {"b": 1.0})], "keys",
         "weights had the keys 'a', now the keys 'b'"),
    Case("more keys", summed, [(t(4), {"a": 1.0}), (t(4), {"a": 1.0, "b": 2.0})], "keys",
         "weights had the keys 'a', now the keys 'a', 'b'"),
    Case("value in a dict", summed, [(t(4), {"a": 1.5}), (t(4), {"a": 2.5})], "value", "weights['a'] was 1.5, now 2.5"),
    Case("counter of a module", Counting, [t(4)] * 4, "value", "self.step was 0, now 1", count=3),
    Case("attribute of a module", Weighted, [t(4), setting("weight", 3)], "value", "self.weight was 2, now 3"),
    Case("training", Dropping, [t(4), evaluating], "value", "self.drop.training was True, now False"),
    Case("global", by_global, [with_global(2), with_global(3)], "value", "FACTOR was 2, now 3"),
    Case("another lambda", applied, [(t(4), lambda x: x + 1), (t(4), lambda x: x + 2)], "identity",
         "fn was function <lambda> (test_recompiles.py:"),
    Case("closed-over value", applied, [(t(4), adding(2)), (t(4), adding(3))], "value", "k was 2, now 3"),
    Case("argument of a partial", applied, [(t(4), functools.partial(torch.add, other=1)),
                                           (t(4), functools.partial(torch.add, other=2))], "value",
         "fn.keywords['other'] was 1, now 2"),
    Case("two tensors for one", added, [(SHARED, SHARED), (t(4), t(4))], "aliasing",
         "x and y were one object, now two"),
    Case("one tensor for two", added, [(t(4), t(4)), (SHARED, SHARED)], "aliasing",
         "x and y were two tensors, now one"),
    Case("grad mode", double, [t(4), under(torch.no_grad)], "state", "grad mode was on, now off"),
    Case("autocast", double, [t(4), under(lambda: torch.autocast("cpu"))], "state", "autocast was off, now on"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_recompile_says_what_changed(case: Case) -> None:
    report = case.inspect(try_advice=False)
    assert report.failure == ""
    first = report.recompiles[0]
    assert first.changes[0].aspect == case.aspect
    assert first.seen[0].startswith(case.words)
    assert first.count == case.count
    assert first.reason.startswith("0/0: ")
    assert first.function in (report.graphs[0].name, "forward")
    if case.aspect != "state":
        assert first.changes[0].user_line.startswith(f"{__file__}:")


def only(report: GuardReport) -> Recompile:
    (one,) = report.recompiles
    return one


def test_after_the_first_other_size_the_new_graph_takes_more() -> None:
    one = only(CASES[0].inspect(try_advice=False))
    assert one.generalised
    assert one.compile_ids == ("0/1",)


def test_a_number_that_the_code_needs_as_such_stays_fixed() -> None:
    loops = next(case for case in CASES if case.name == "number of loops").inspect(try_advice=False)
    assert [one.generalised for one in loops.recompiles] == [False, False]
    specialised = loops.recompiles[1].changes[0]
    assert (specialised.aspect, specialised.words) == ("specialised", "n was 3, now 4")
    assert specialised.user_line == f"{__file__}:{repeated.__code__.co_firstlineno + 1}"


def test_a_relation_that_no_longer_holds_is_told_with_the_sizes_seen() -> None:
    one = only(GuardInspector(halves, dynamic=True, try_advice=False).inspect(calls=[t(4), t(5)]))
    assert one.changes[0].aspect == "relation"
    expected = "the graph is for calls where dimension 0 of x is divisible by 2; now dimension 0 of x is 5"
    assert one.seen == (expected,)
    assert one.changes[0].user_line == f"{__file__}:{halves.__code__.co_firstlineno + 1}"


def test_a_dynamic_size_that_becomes_one_is_a_bound() -> None:
    one = only(GuardInspector(double, dynamic=True, try_advice=False).inspect(calls=[t(4), t(1)]))
    assert one.changes[0].aspect == "bound"
    assert one.seen == ("the graph is for calls where dimension 0 of x is at least 2; now dimension 0 of x is 1",)


def test_two_sizes_that_torch_took_for_one_are_told_as_such() -> None:
    calls = [(t(4), t(4)), (t(5), t(6))]
    one = only(GuardInspector(sums, dynamic=True, try_advice=False).inspect(calls=calls))
    assert one.changes[0].aspect == "assumed"
    assert "dimension 0 of y is 6" in one.seen[0]


def test_what_makes_a_new_graph_necessary_is_told_not_what_another_graph_was_compiled_for() -> None:
    def program(x: torch.Tensor, flag: bool, n: int) -> torch.Tensor:
        return x * n if flag else x + 1

    calls = [(t(4), True, 2), (t(4), False, 2), (t(4), True, 5)]
    report = GuardInspector(program, try_advice=False).inspect(calls=calls)
    assert [one.seen for one in report.recompiles] == [("flag was True, now False",), ("n was 2, now 5",)]


def test_a_size_that_changes_is_told_for_the_rest_of_the_function_after_a_break_too() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        torch._dynamo.graph_break()
        return y + 1

    report = GuardInspector(program, try_advice=False).inspect(calls=[t(4, 3), t(5, 3)])
    assert [(one.function, one.seen) for one in report.recompiles] == [
        ("program", ("dimension 0 of x was 4, now 5",)),
        ("program, resumed after a break", ("dimension 0 of y was 4, now 5",)),
    ]


def test_torch_gives_up_at_its_limit_and_the_report_says_so() -> None:
    compiled_graphs = 0

    def backend(graph: Any, _inputs: Any) -> Any:
        nonlocal compiled_graphs
        compiled_graphs += 1
        return graph

    with torch._dynamo.config.patch(recompile_limit=2):
        report = GuardInspector(Counting(), backend=backend, try_advice=False).inspect(calls=[t(4)] * 6)
    one = only(report)
    assert one.limit == "recompile_limit (2)"
    assert report.limits_hit == (one,)
    assert "LIMIT: recompile_limit (2) is reached: torch compiles this function no more" in report.summary()
    assert compiled_graphs == len(report.graphs) == 2
    assert report.failure == ""


def test_with_fullgraph_the_limit_is_a_failure() -> None:
    with torch._dynamo.config.patch(recompile_limit=2):
        report = GuardInspector(Counting(), fullgraph=True, try_advice=False).inspect(calls=[t(4)] * 6)
    assert report.failure.startswith("call 3 (float32 [4]): FailOnRecompileLimitHit: ")
    assert report.limits_hit


def test_beyond_the_limit_old_graphs_are_used_and_nothing_new_is_compiled() -> None:
    """What the report says of the limit, on torch itself."""
    compiled_graphs: list[str] = []

    def backend(graph: Any, _inputs: Any) -> Any:
        compiled_graphs.append("")
        return graph

    def callee(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    def program(x: torch.Tensor, how: str) -> torch.Tensor:
        y = x * len(how)
        torch._dynamo.graph_break()
        return callee(y)

    with torch._dynamo.config.patch(recompile_limit=1):
        compiled = torch.compile(program, backend=backend)
        compiled(t(4), "a")
        before = len(compiled_graphs)
        assert torch.equal(compiled(t(4), "bb"), t(4) * 2 + 1)
        assert torch.equal(compiled(t(4), "a"), t(4) + 1)
    assert before == len(compiled_graphs)


def test_a_graph_compiled_before_anybody_looked_is_told_in_torchs_words() -> None:
    compiled = torch.compile(double, backend="eager")
    compiled(t(4, 8))
    with GuardInspector() as inspector:
        compiled(t(5, 8))
    one = only(inspector.report)
    assert one.seen == ("dimension 0 of x was 4, now 5",)
    assert one.advice[0].code == "torch._dynamo.mark_dynamic(x, 0)"


def test_a_value_before_anybody_looked_is_told_by_its_guard() -> None:
    compiled = torch.compile(scaled, backend="eager")
    compiled(t(4), 2)
    with GuardInspector() as inspector:
        compiled(t(4), 3)
    assert only(inspector.report).seen == ("n == 2",)


def test_another_backend_for_the_same_function_is_told_as_such() -> None:
    with GuardInspector() as inspector:
        torch.compile(double, backend="eager")(t(4))
        torch.compile(double, backend=lambda graph, _inputs: graph)(t(4))
    assert only(inspector.report).changes[0].aspect == "backend"


def test_a_graph_for_an_object_that_is_gone_is_told_as_such() -> None:
    compiled = torch.compile(applied, backend="eager")

    def call_with_a_class_of_its_own() -> None:
        class Adding:
            def __call__(self, x: torch.Tensor) -> torch.Tensor:
                return x + 1

        compiled(t(4), Adding())

    with GuardInspector() as inspector:
        call_with_a_class_of_its_own()
        gc.collect()
        call_with_a_class_of_its_own()
    one = only(inspector.report)
    assert one.seen == ("the type of fn was in use, now freed",)
    assert "keep the type of fn" in one.advice[0].words


def test_a_mark_set_after_the_first_call_is_told_as_such() -> None:
    compiled = torch.compile(double, backend="eager")
    x = t(4, 8)
    with GuardInspector() as inspector:
        compiled(x)
        torch._dynamo.mark_dynamic(x, 0)
        compiled(x)
    assert only(inspector.report).seen == ("x was not marked, now marked dynamic in dimension 0",)
