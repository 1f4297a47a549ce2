"""Advice is true: followed to the letter, torch compiles less often; where nothing helps, that is said.

Graphs are counted by the backend that compiles them, apart from everything that is tested.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
import torch

from repro_runner.guards import Advice, GuardInspector, Recompile
from repro_runner.guards.advice import BEFORE_CALL, BEFORE_FIRST_CALL, DYNAMIC, IN_THE_CODE, NOTHING, SETTING
from repro_runner.model_under_test import Call
from repro_runner.model_under_test.calls import copied, parameters_of, read_calls
from tests.repro_runner.guards import test_recompiles as programs
from tests.repro_runner.guards.test_recompiles import CASES, Case, setting, t, under
from tests.scheduling import sampled

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def graphs_compiled(program: Any, calls: Sequence[Any], advice: Advice | None = None) -> int:
    """How many graphs a backend is given when the calls are made, with the advice's code run where it says."""
    count = 0

    def backend(graph: Any, _inputs: Any) -> Any:
        nonlocal count
        count += 1
        return graph

    torch._dynamo.reset()
    code, how = (advice.code, advice.how) if advice else ("", "")
    model = program() if isinstance(program, type) else program
    settings = [line.partition(" = ") for line in code.splitlines() if line.partition("=")[0].count("onfig.")]
    before = [(place, getattr(_module(place), _name(place))) for place, _, _ in settings]
    for place, _, value in settings:
        setattr(_module(place), _name(place), value == "True")
    compiled = torch.compile(model, backend=backend, dynamic=True if DYNAMIC in code else None)
    try:
        for number, call in enumerate(copied(read_calls(calls, "here"))):
            first = how == BEFORE_FIRST_CALL and number == 0
            call.make(prepared(compiled, model, code) if first or how == BEFORE_CALL else compiled)
    finally:
        for place, value in before:
            setattr(_module(place), _name(place), value)
    return count


def _module(place: str) -> Any:
    return importlib.import_module(place.rpartition(".")[0])


def _name(place: str) -> str:
    return place.rpartition(".")[2]


def prepared(compiled: Any, model: Any, code: str) -> Callable[..., Any]:
    """As a user would: the lines, then the call."""
    names = list(parameters_of(model).parameters)

    def call(*args: Any) -> Any:
        scope = {**dict(zip(names, args, strict=True)), "torch": torch}
        exec(code, scope)
        return compiled(*(scope[name] for name in names))

    return call


def first_recompile(case: Case) -> Recompile:
    return case.inspect().recompiles[0]


HELD = {
    "size": "torch._dynamo.mark_dynamic(x, 0)",
    "inner size": "torch._dynamo.mark_dynamic(x, 1)",
    "two sizes": "torch._dynamo.mark_dynamic(x, 0)\ntorch._dynamo.mark_dynamic(y, 0)",
    "size to one": "torch._dynamo.decorators.mark_unbacked(x, 0)",
    "size of a buffer": f"torch._dynamo.config.force_parameter_static_shapes = False\n{DYNAMIC}",
    "size of an attribute": f"torch.fx.experimental._config.use_duck_shape = False\n{DYNAMIC}",
    "dtype": "x = x.to(torch.float32)",
    "requires_grad": "x = x.detach()",
    "strides": "x = x.contiguous()",
    "gaps": "x = x.contiguous()",
    "class of tensor": "x = x.detach().as_subclass(torch.Tensor)",
    "inference tensor": "x = x.clone()",
    "conjugated": "x = x.resolve_conj().resolve_neg()",
    "int": "n = torch.as_tensor(n)",
    "float": "n = torch.as_tensor(n)",
    "value in a dict": "weights['a'] = torch.as_tensor(weights['a'])",
    "counter of a module": "torch._dynamo.config.allow_unspec_int_on_nn_module = True",
    "closed-over value": DYNAMIC,
    "argument of a partial": DYNAMIC,
    "two tensors for one": "y = y.clone()",
    "one tensor for two": "y = y.clone()",
}
"""The first advice for a case, as code: it was tried, and holds."""


@pytest.mark.parametrize("case", sampled((case for case in CASES if case.name in HELD), 7), ids=lambda case: case.name)
def test_advice_with_code_holds_when_followed_to_the_letter(case: Case) -> None:
    advice = case.inspect().recompiles[0].advice[0]
    assert (advice.code, advice.holds) == (HELD[case.name], True)
    assert advice.tried.startswith("tried: ")
    followed = graphs_compiled(case.program, case.calls, advice)
    assert followed < graphs_compiled(case.program, case.calls)
    assert followed == (2 if case.name == "counter of a module" else 1)


@pytest.mark.parametrize("name", ["size", "inner size", "two sizes", "int", "float", "value in a dict"])
def test_compiling_with_dynamic_true_removes_it_too(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    advice = next(each for each in case.inspect().recompiles[0].advice if each.code == DYNAMIC)
    assert advice.holds
    assert graphs_compiled(case.program, case.calls, advice) == 1


class CountingInABuffer(torch.nn.Module):
    step: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("step", torch.tensor(0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.step += 1
        return x * self.step


class WritingIntoAPart(torch.nn.Module):
    filled: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.cache = torch.zeros(32, 3)
        self.register_buffer("filled", torch.tensor(0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.cache = self.cache.index_copy(0, self.filled + torch.arange(x.shape[0]), x)
        self.filled += x.shape[0]
        return self.cache.sum()


def stacked(xs: torch.Tensor) -> torch.Tensor:
    return xs.sum(0)


ADD_ONE = lambda x: x + 1  # noqa: E731
FOLLOWED: list[tuple[str, str, Any, Sequence[Any]]] = [
    ("rank", "give x the same number of dimensions", programs.double, [t(4).unsqueeze(1), t(4, 1)]),
    ("no tensor", "hand n over as the same type", programs.scaled, [(t(4), t(4)), (t(4), torch.full((4,), 2.0))]),
    ("int to float", "hand n over as the same type", programs.scaled, [(t(4), 2.0), (t(4), 2.0)]),
    ("length of a list", "fill it up to one length", programs.total,
     [([t(4), t(4), t(4) * 0],), ([t(4), t(4), t(4)],)]),
    ("length of a list", "stack it into one tensor", stacked, [torch.stack([t(4)] * 3), torch.stack([t(4)] * 3)]),
    ("keys of a dict", "the same keys in the same order", programs.summed, [(t(4), {"a": 1.0, "b": 0.0})] * 2),
    ("counter of a module", "keep self.step as a tensor: self.register_buffer(", CountingInABuffer, [t(4)] * 5),
    ("attribute of a module", "keep self.weight as a tensor", lambda: programs.Weighted(torch.tensor(2)),
     [t(4), setting("weight", torch.tensor(3))]),
    ("size of an attribute", "give self.cache its greatest size once", WritingIntoAPart, [t(4, 3)] * 4),
    ("global", "keep FACTOR as a tensor", programs.by_global,
     [programs.with_global(torch.tensor(2)), programs.with_global(torch.tensor(3))]),
    ("closed-over value", "keep k as a tensor", programs.applied,
     [(t(4), programs.adding(torch.tensor(2))), (t(4), programs.adding(torch.tensor(3)))]),
    ("another lambda", "define fn once", programs.applied, [(t(4), ADD_ONE), (t(4), ADD_ONE)]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "words", "program", "calls"), FOLLOWED, ids=[each[1] for each in FOLLOWED])
def test_advice_about_the_code_holds_when_somebody_follows_it(
    name: str, words: str, program: Any, calls: Sequence[Any]
) -> None:
    case = next(case for case in CASES if case.name == name)
    assert [each for each in case.inspect().recompiles[0].advice if words in each.words and each.how == IN_THE_CODE]
    made = program() if isinstance(program, type) or program.__name__ == "<lambda>" else program
    assert graphs_compiled(made, calls) == 1


def test_a_mark_before_the_first_call_needs_no_second_graph() -> None:
    x = t(4, 8)
    compiled = torch.compile(programs.double, backend="eager")
    with GuardInspector() as inspector:
        compiled(x)
        torch._dynamo.mark_dynamic(x, 0)
        compiled(x)
    assert inspector.report.advice[0].words == "mark x before the first call"
    assert graphs_compiled(programs.double, [x, x]) == 1


def test_keeping_what_was_freed_and_compiling_once_need_no_second_graph() -> None:
    class Adding:
        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    assert graphs_compiled(programs.applied, [(t(4), Adding()), (t(4), Adding())]) == 1
    with GuardInspector() as inspector:
        torch.compile(programs.double, backend="eager")(t(4))
        torch.compile(programs.double, backend=lambda graph, _inputs: graph)(t(4))
    assert inspector.report.advice[0].words.startswith("compile it once, and keep what torch.compile returns")


def at_even_and_odd(model: Any) -> None:
    for size in (4, 5, 6, 7):
        model(t(size))


NO_MORE: list[tuple[str, Any, list[Any], str, int]] = [
    ("bool", programs.chosen, [(t(4), True), (t(4), False)] * 3, "a graph for each value of how", 2),
    ("string", programs.chosen, [(t(4), "double"), (t(4), "triple")] * 3, "a graph for each value of how", 2),
    ("training", programs.Dropping, [lambda m: m.train()(t(4)), lambda m: m.eval()(t(4))] * 3,
     "a graph for training and one for evaluation, and no more", 2),
    ("grad mode", programs.double, [t(4), under(torch.no_grad)] * 3, "a graph for each grad mode, and no more", 2),
    ("loops", programs.repeated, [(t(4), 2), (t(4), 3), (t(4), 4)] * 2,
     "needs n as a number: there is a graph for each", 3),
]  # fmt: skip


@pytest.mark.parametrize(("name", "program", "calls", "words", "graphs"), NO_MORE, ids=[each[0] for each in NO_MORE])
def test_where_nothing_helps_there_are_as_many_graphs_as_is_said(
    name: str, program: Any, calls: list[Any], words: str, graphs: int
) -> None:
    report = Case(name, program, calls, "", "").inspect()
    notes = [each.words for each in report.advice if each.how == NOTHING]
    assert any(words in note for note in notes)
    assert not any(each.holds for each in report.advice)
    assert graphs_compiled(program, calls) == graphs == len(report.graphs)


def test_a_relation_has_a_graph_for_each_outcome_and_no_more() -> None:
    report = GuardInspector(programs.halves, dynamic=True).inspect(calls=[at_even_and_odd])
    assert "depends on it: there is a graph for each outcome, and no more" in report.advice[0].words
    assert len(report.graphs) == 2


def test_sizes_that_torch_took_for_one_are_kept_apart_by_a_setting() -> None:
    calls = [(t(4), t(4)), (t(5), t(6))]
    report = GuardInspector(programs.sums, dynamic=True).inspect(calls=calls)
    assert (report.advice[0].how, report.advice[0].holds) == (SETTING, True)
    assert report.advice[0].code == "torch.fx.experimental._config.use_duck_shape = False"


@pytest.mark.parametrize(("setting", "values"), [("specialize_int", (2, 3, 4)), ("specialize_float", (2.5, 3.5, 4.5))])
def test_a_setting_of_the_users_that_fixes_numbers_is_told(setting: str, values: tuple[Any, ...]) -> None:
    with torch._dynamo.config.patch({setting: True}):
        report = GuardInspector(programs.scaled).inspect(calls=[(t(4), value) for value in values])
    assert report.recompile_count == 2
    advice = next(each for each in report.advice if setting in each.code)
    assert (advice.code, advice.holds) == (f"torch._dynamo.config.{setting} = False", True)
    assert advice.tried == "tried: 1 recompile instead of 2"


def test_advice_that_torch_refuses_is_reported_as_not_helping() -> None:
    fixed = t(4)

    def program(x: torch.Tensor) -> torch.Tensor:
        return x + fixed if x.shape[0] == 4 else x * 2

    report = GuardInspector(program).inspect(calls=[t(4), t(5)])
    marked = next(each for each in report.advice if "mark_dynamic" in each.code)
    assert marked.holds is False
    assert "You marked L['x'].size()[0] as dynamic but your code specialized it" in marked.tried
    assert f"does not help: torch._dynamo.mark_dynamic(x, 0) ({marked.tried})" in report.summary()


def test_advice_for_one_of_two_reasons_is_judged_by_that_one() -> None:
    class Both(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.step = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.step += 1
            return x * self.step

    report = GuardInspector(Both()).inspect(calls=[t(4), t(5)])
    assert report.recompiles[0].seen == ("dimension 0 of x was 4, now 5; self.step was 0, now 1",)
    marked = next(each for each in report.advice if "mark_dynamic" in each.code)
    assert (marked.holds, marked.tried) == (True, "tried: no longer among the reasons; 1 recompile left for others")


@pytest.mark.prove
def test_arguments_inside_of_the_model_are_not_told_to_be_marked_by_the_caller() -> None:
    def inner(hidden: torch.Tensor) -> torch.Tensor:
        doubled = hidden * 2
        torch._dynamo.graph_break()
        return doubled + 1

    def program(x: torch.Tensor) -> torch.Tensor:
        return inner(x + 1) + 1

    report = GuardInspector(program).inspect(calls=[t(4, 3), t(5, 3), t(5, 3).double()])
    sizes, dtypes = (one.advice for one in report.recompiles if "hidden" in one.seen[0] and one.function == "inner")
    assert [each.code for each in sizes] == [DYNAMIC]
    assert [each.words for each in dtypes] == ["nothing is known here that removes this recompile"]
    assert "hidden" not in "".join(each.code for each in report.advice)


def test_nobody_tries_advice_that_was_not_asked_for() -> None:
    report = CASES[0].inspect(try_advice=False)
    assert [(each.holds, each.tried) for each in report.advice] == [(None, ""), (None, "")]


def test_trials_leave_model_inputs_settings_and_random_numbers_as_they_were() -> None:
    import logging

    model, x = programs.Counting(), t(4)
    settings = torch._dynamo.config.allow_unspec_int_on_nn_module, logging.root.manager.disable
    state = torch.get_rng_state()
    report = GuardInspector(model).inspect(calls=[x, t(5), t(6)])
    assert any(each.holds for each in report.advice)
    assert model.step == 0
    assert not hasattr(x, "_dynamo_dynamic_indices")
    assert settings == (torch._dynamo.config.allow_unspec_int_on_nn_module, logging.root.manager.disable)
    assert torch.equal(torch.get_rng_state(), state)


def test_calls_are_copied_as_they_are() -> None:
    x, shared = t(4, 8)[:, ::2], t(3)
    torch._dynamo.mark_dynamic(x, 0)
    grown = t(3).requires_grad_() * 2
    first, second = copied([Call(args=(x, shared, grown)), Call(args=(shared, torch.nn.Parameter(t(2))))])
    assert first.args[0].stride() == x.stride() and first.args[0]._dynamo_dynamic_indices == {0}
    assert first.args[1] is second.args[0] and first.args[1] is not shared
    assert first.args[2].requires_grad and first.args[2].is_leaf
    assert isinstance(second.args[1], torch.nn.Parameter)
