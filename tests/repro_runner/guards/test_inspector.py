"""GuardInspector, on a model and around one's own calls; it changes nothing of what it looks at."""

from __future__ import annotations

import functools
import gc
import json
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch._dynamo import convert_frame, guards
from torch._dynamo.eval_frame import _debug_get_cache_entry_list

import repro_runner
from registry.errors import InvalidInput
from registry.ids import page_address
from repro_runner.guards import GuardInspector, GuardReport, inspect_model
from repro_runner.guards.observing import _WRAPPED, observe
from repro_runner.model_under_test import ModelFailed, ModelUnderTest

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU())

    def forward(self, x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
        y: torch.Tensor = self.layers(x)
        if y.sum() > 1e9:
            y = y * 0
        return y * scale


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@pytest.fixture(scope="module")
def report() -> GuardReport:
    torch._dynamo.reset()
    return GuardInspector(Net()).inspect(calls=[torch.ones(3, 8), torch.ones(5, 8)])


def test_people_of_the_earlier_toolkit_change_the_import_root_only() -> None:
    assert repro_runner.GuardInspector is GuardInspector
    inspector = GuardInspector(Net(), torch.ones(3, 8))
    assert "0 recompiles" in inspector.inspect().summary()
    assert inspector.report.calls == ("float32 [3, 8]", "float32 [3, 8]")


def test_each_compiled_part_is_listed_with_its_place(report: GuardReport) -> None:
    line = Net.forward.__code__.co_firstlineno
    found = [(graph.name, graph.source, graph.compile_id) for graph in report.graphs]
    assert found[:2] == [
        ("forward", f"{__file__}:{line}", "0/0"),
        ("forward, resumed after a break", f"{__file__}:{line + 2}", "1/0"),
    ]
    assert [graph.compile_id for graph in report.graphs] == ["0/0", "1/0", "0/1", "1/1"]


def test_breaks_have_ids_and_links(report: GuardReport) -> None:
    assert {one.gb_id for one in report.breaks} == {"GB0170"}
    assert page_address("GB0170") in report.summary()
    assert f"test_inspector.py:{Net.forward.__code__.co_firstlineno + 2}" in report.summary()


def test_the_summary_counts_and_says_what_to_do(report: GuardReport) -> None:
    lines = report.summary().splitlines()
    assert lines[0].startswith("Net: 4 graphs, ") and lines[0].endswith(", 2 breaks, 2 recompiles")
    assert "  call 2: float32 [5, 8]" in lines
    assert "  dimension 0 of x was 3, now 5" in lines
    assert "      torch._dynamo.mark_dynamic(x, 0)  # before the first call" in lines
    assert "      torch.compile(model, dynamic=True)  # when compiling" in lines


def test_printing_shows_guards_grouped_and_of_later_graphs_what_differs(report: GuardReport) -> None:
    text = str(report)
    assert "2 guards on parameters and buffers of self.layers: unchanged" in text
    assert "compiled as 0/1: " in text and "; as 0/0, but\n" in text
    later = text.partition("compiled as 0/1: ")[2].partition("\n\n")[0]
    assert "no longer: x is a float32 tensor of shape [3, 8]" in later
    assert "scale is 1.0" not in later and "weight" not in later
    assert report.summary() in text


def test_on_request_every_guard_is_shown(report: GuardReport) -> None:
    text = report.text(everything=True)
    assert "self.layers[0].weight is a float32 parameter of shape [4, 8] on cpu that requires grad" in text
    assert sum(line.startswith("  ") for line in text.partition("\n\n")[0].splitlines()) == len(report.graphs[0].guards)


def test_the_document_is_plain_json(report: GuardReport) -> None:
    document = json.loads(json.dumps(report.document(), allow_nan=False))
    assert (document["kind"], document["schema"]) == ("guards", 1)
    graph = document["graphs"][0]
    assert set(graph) == {"name", "source", "compile_id", "guards"}
    assert {"kind", "source", "words", "user_line", "code", "role", "group"} == set(graph["guards"][0])
    recompile = document["recompiles"][0]
    assert recompile["count"] == 1
    assert {"aspect": "size", "source": "x", "was": "3", "now": "5"}.items() <= recompile["changes"][0].items()
    assert document["advice"][recompile["advice"][0]]["code"] == "torch._dynamo.mark_dynamic(x, 0)"


def test_as_a_context_manager_it_sees_whatever_is_compiled_in_its_block() -> None:
    compiled = torch.compile(double, backend="eager")
    with GuardInspector() as inspector:
        compiled(torch.ones(4))
        compiled(torch.ones(5))
    compiled(torch.ones(5, dtype=torch.float64))
    assert [graph.compile_id for graph in inspector.report.graphs] == ["0/0", "0/1"]
    assert [one.seen for one in inspector.report.recompiles] == [("dimension 0 of x was 4, now 5",)]
    assert inspector.report.summary().startswith("compiled code: 2 graphs")


def originals() -> list[Any]:
    return [getattr(owner, name) for owner, name in _WRAPPED] + [convert_frame.ConvertFrame.__call__]


def test_everything_is_put_back_after_an_exception_and_the_report_is_there() -> None:
    before = originals()
    inspector = GuardInspector()
    with pytest.raises(ZeroDivisionError), inspector:
        torch.compile(double, backend="eager")(torch.ones(4))
        assert originals() != before
        raise ZeroDivisionError
    assert originals() == before
    assert len(inspector.report.graphs) == 1


def test_inspectors_nest_and_do_not_leak_into_each_other() -> None:
    compiled = torch.compile(double, backend="eager")
    before = originals()
    with GuardInspector() as outer:
        compiled(torch.ones(4))
        with GuardInspector() as inner:
            compiled(torch.ones(5))
        compiled(torch.ones(5, dtype=torch.float64))
    with GuardInspector() as later:
        compiled(torch.ones(5))
    counts = [(len(each.report.graphs), each.report.recompile_count) for each in (outer, inner, later)]
    assert counts == [(3, 2), (1, 1), (0, 0)]
    assert originals() == before


def test_observers_may_leave_in_any_order() -> None:
    before = originals()
    first, second = observe(), observe()
    first.__enter__()
    seen = second.__enter__()
    first.__exit__(None, None, None)
    torch.compile(double, backend="eager")(torch.ones(4))
    second.__exit__(None, None, None)
    assert len(seen.graphs) == 1
    assert originals() == before


def test_what_another_thread_compiles_is_seen_too() -> None:
    with GuardInspector() as inspector:
        thread = threading.Thread(target=lambda: torch.compile(double, backend="eager")(torch.ones(4)))
        thread.start()
        thread.join()
    assert len(inspector.report.graphs) == 1


def guards_and_graphs(*, inspected: bool) -> tuple[int, list[int]]:
    """How many graphs a backend is given in some calls, and how many guards and accessors torch then has for each."""
    torch._dynamo.reset()
    count = 0

    def backend(graph: Any, _inputs: Any) -> Any:
        nonlocal count
        count += 1
        return graph

    net = Net()
    compiled = torch.compile(net, backend=backend)
    with GuardInspector() if inspected else torch.no_grad(), torch.enable_grad():
        for size in (4, 5, 6, 1, 7):
            compiled(torch.ones(size, 8), 2.5)
            compiled(torch.ones(size, 8), 3.5)
    entries = _debug_get_cache_entry_list(Net.forward.__code__)
    return count, [str(entry.guard_manager).count("+- ") for entry in entries]


def test_inspecting_adds_no_guard_and_no_recompile() -> None:
    alone = guards_and_graphs(inspected=False)
    assert alone[0] > 4 and alone[1]
    assert guards_and_graphs(inspected=True) == alone


def test_nothing_that_was_looked_at_is_kept_alive() -> None:
    net, x = Net(), torch.ones(3, 8)
    gone: list[Any] = [weakref.ref(net), weakref.ref(x), weakref.ref(net.layers[0].weight)]
    with GuardInspector() as inspector:
        compiled = torch.compile(net, backend="eager")
        compiled(x)
        compiled(torch.ones(5, 8))
    del net, x, compiled
    torch._dynamo.reset()
    gc.collect()
    assert [each() for each in gone] == [None, None, None]
    assert inspector.report.recompile_count == 2


def test_a_guard_filter_of_the_users_stays_in_force() -> None:
    def only_tensors(entries: Any) -> list[bool]:
        return [entry.guard_type == "TENSOR_MATCH" for entry in entries]

    options: dict[str, Any] = {"guard_filter_fn": only_tensors}
    with GuardInspector() as inspector:
        torch.compile(double, backend="eager", options=options)(torch.ones(4))
    assert {guard.kind for guard in inspector.report.graphs[0].guards} == {"TENSOR_MATCH"}


def test_the_model_is_left_as_it_was_and_torch_forgets_what_was_compiled() -> None:
    net = Net().eval()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    GuardInspector(net).inspect(torch.ones(3, 8), scale=2.0)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert _debug_get_cache_entry_list(Net.forward.__code__) == []
    with GuardInspector() as inspector:
        torch.compile(net, backend="eager")(torch.ones(4, 8))
    assert inspector.report.recompile_count == 0


def test_torchs_own_module_is_told_by_its_parameters_not_by_those_of_a_wrapper() -> None:
    calls = [torch.ones(3, 8), torch.ones(5, 8), {"input": torch.ones(5, 8)}]
    report = GuardInspector(torch.nn.Linear(8, 4)).inspect(calls=calls)
    assert report.graphs[0].name == "forward" and "linear.py:" in report.graphs[0].source
    assert "input is a float32 tensor of shape [3, 8]" in str(report)
    assert report.recompiles[0].advice[0].code == "torch._dynamo.mark_dynamic(input, 0)"
    assert report.recompiles[0].advice[0].holds
    assert report.recompiles[1].advice[0].words.startswith("hand every argument over the same way in every call")


def logged(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    return wrapper


class Decorated(torch.nn.Module):
    @logged
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


def test_a_decorated_forward_is_told_by_the_parameters_of_the_one_inside() -> None:
    calls = [((torch.ones(size),), {"y": torch.ones(size)}) for size in (3, 5)]
    report = GuardInspector(Decorated()).inspect(calls=calls)
    advice = report.recompiles[0].advice[0]
    assert set(advice.code.splitlines()) == {"torch._dynamo.mark_dynamic(x, 0)", "torch._dynamo.mark_dynamic(y, 0)"}
    assert advice.holds


def needs_keywords(*, x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n


def writes_into_its_input(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x


def returns_no_tensor(x: torch.Tensor) -> str:
    return f"{x.shape[0] * 2}"


@pytest.mark.parametrize(
    ("program", "call"),
    [
        (needs_keywords, {"x": torch.ones(2), "n": 3}),
        (writes_into_its_input, torch.ones(2)),
        (returns_no_tensor, torch.ones(2)),
        (torch.nn.ReLU(), torch.ones(2)),
        (double, (torch.ones(2).requires_grad_() * 3,)),
    ],
    ids=["keywords", "writes into its input", "returns no tensor", "no parameters", "a tensor with a history"],
)
def test_unusual_models_are_inspected_all_the_same(program: Any, call: Any) -> None:
    report = GuardInspector(program).inspect(calls=[call, call])
    assert (report.failure, report.recompile_count) == ("", 0)
    assert report.graphs or program is returns_no_tensor


def test_inputs_are_not_written_into() -> None:
    x = torch.ones(2)
    GuardInspector(writes_into_its_input).inspect(x)
    assert torch.equal(x, torch.ones(2))


def raises(_x: torch.Tensor) -> torch.Tensor:
    raise ValueError("no such mode")


def test_a_model_that_raises_is_the_users_and_its_line_is_named() -> None:
    with pytest.raises(ModelFailed) as raised:
        GuardInspector(raises).inspect(torch.ones(2))
    line = raises.__code__.co_firstlineno + 1
    assert str(raised.value).startswith(f"{__file__}:{line}: ValueError: no such mode; call 1 (float32 [2]) fails")


def test_a_call_that_only_torch_compile_fails_is_in_the_report() -> None:
    def failing(_graph: Any, _inputs: Any) -> Any:
        raise RuntimeError("this device is out of order")

    report = GuardInspector(double, backend=failing).inspect(torch.ones(2))
    assert report.failure.startswith("call 1 (float32 [2]): BackendCompilerFailed: ")
    assert "this device is out of order" in report.failure
    assert report.failure in report.summary()


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: GuardInspector().inspect(torch.ones(2)), "there is no model to inspect"),
        (lambda: GuardInspector(double).inspect(calls=[]), "there are no calls in it"),
    ],
    ids=["no model", "no calls"],
)
def test_what_is_missing_is_said(use: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        use()


def test_a_report_before_anything_was_inspected_is_refused() -> None:
    with pytest.raises(RuntimeError, match="nothing has been inspected yet"):
        _ = GuardInspector(double).report


def test_a_model_that_cannot_be_copied_gets_the_other_way_to_be_inspected() -> None:
    net: Any = Net()
    net.kept = threading.Lock()
    with pytest.raises(
        InvalidInput, match=r"TypeError: cannot pickle .*: it can't be copied; put `with GuardInspector"
    ):
        GuardInspector(net).inspect(torch.ones(3, 8))


def test_a_torch_without_these_places_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(guards.CheckFunctionManager, "compile_check_fn")
    with pytest.raises(InvalidInput, match=r"guards can't be read in it: it has no compile_check_fn; torch 2\.11"):
        GuardInspector(double).inspect(torch.ones(2))


def test_a_subject_is_called_twice_and_then_with_other_sizes() -> None:
    report = inspect_model(ModelUnderTest(name="double", model=double, args=(torch.ones(4),)), try_advice=False)
    assert report.calls == ("as given", "as given, once more", "dimension 0 of x 4 → 5", "dimension 0 of x 4 → 6")
    assert report.recompile_count == 1
    assert report.subject == "double"


def test_sizes_that_the_model_refuses_are_left_alone_and_that_is_said() -> None:
    fixed = torch.ones(4)

    def program(x: torch.Tensor) -> torch.Tensor:
        return x + fixed

    report = inspect_model(ModelUnderTest(name="program", model=program, args=(torch.ones(4),)))
    assert len(report.calls) == 2
    assert "not varied, since dimension 0 of x 4 → 5 fails: RuntimeError: The size of tensor a (5)" in report.calls[1]
    assert report.recompile_count == 0
