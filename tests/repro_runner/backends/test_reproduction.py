"""A graph that is refused leaves a script that fails in the same way, and the program notices nothing of it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

from repro_runner.adapters import AcceleratorCapabilities, IntegratedMockAdapter
from repro_runner.aot_backend import aot_mock_backend
from repro_runner.backends import (
    ArtifactsWarning,
    ConstraintViolations,
    ConstraintWarning,
    graph_dumps,
    keep_artifacts,
    make_mock_backend,
)
from repro_runner.constraints import (
    Constraint,
    DtypeConstraint,
    PeakMemoryConstraint,
    ShapeConstraint,
    StaticShapesConstraint,
    UnsupportedOpsConstraint,
)
from repro_runner.constraints.environment import mock_variables
from repro_runner.minifier import refused_graph
from repro_runner.minifier.script import Script
from repro_runner.minifier.script_runners import InProcess
from tests.checkout import on_small_disk

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A process that has compiled nothing yet."""
    for variable in (*mock_variables(), "GRAPHBREAK_ARTIFACTS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(graph_dumps, "_own_runs", {})
    monkeypatch.setattr(graph_dumps, "_gave_up", set())
    torch._dynamo.reset()
    yield tmp_path / "home"
    torch._dynamo.reset()


def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    h = torch.nn.functional.gelu(torch.nn.functional.dropout(x, 0.5) @ w)
    return h.exp() + torch.tensor([1.0, 2.0, 3.0])


def refused(
    backend: Any, function: Callable[..., torch.Tensor] = program, *, backward: bool = False, **keywords: Any
) -> ConstraintViolations:
    inputs = torch.randn(4, 6, requires_grad=True), torch.randn(6, 3)
    with pytest.raises(ConstraintViolations) as error:
        answer = torch.compile(function, backend=backend, **keywords)(*inputs)
        if backward:
            torch.autograd.grad(answer.sum(), inputs[0])
    return error.value


def own_message(error: ConstraintViolations) -> list[str]:
    """Without what torch adds to it."""
    return str(error).split("\n\n")[0].splitlines()


def script_of(error: ConstraintViolations) -> str:
    assert error.script is not None
    # After what torch adds to the message, so that nobody has to look for it.
    assert str(error).splitlines()[-1] == f"reproduction: {error.script.path} ({error.script.remark})"
    return error.script.path.read_text("utf-8")


def outcome_of(text: str, folder: Path) -> tuple[int | None, str]:
    outcome = InProcess(folder).outcome(Script(text=text, saved={}))
    return outcome.code, outcome.text


def lacking(*ops: str) -> list[Constraint]:
    return [UnsupportedOpsConstraint(ops)]


def device(*ops: str, decompositions: str = "none") -> IntegratedMockAdapter:
    capabilities = AcceleratorCapabilities(unsupported_ops=ops)
    return IntegratedMockAdapter(capabilities, strict=True, decompositions=decompositions)


CASES: dict[str, tuple[Any, dict[str, Any], str]] = {
    # the backend, how it is compiled, what the script says
    "mock": (make_mock_backend(constraints=lacking("gelu")), {}, "aten.gelu.default of the forward"),
    "mock backward": (
        make_mock_backend(constraints=lacking("gelu_backward")),
        {"backward": True},
        "aten.gelu_backward.default of the backward",
    ),
    "mock dynamic": (
        make_mock_backend(constraints=lacking("exp")),
        {"dynamic": True},
        "aten.exp.default of the forward",
    ),
    "mock input": (
        make_mock_backend(constraints=[ShapeConstraint(4, ops=["mm"], arguments=["self"], dims=[-1])]),
        {},
        "aten.mm.default of the forward graph: float32[4, 6]: dimension -1 is not a multiple of 4 elements",
    ),
    "aot_mock decomposed": (aot_mock_backend(constraints=lacking("erf")), {}, "aten.erf.default of the forward"),
    "adapter": (device("gelu"), {}, "aten.gelu.default of the forward"),
    "adapter decomposed": (
        device("permute", decompositions="core-aten"),
        {"function": lambda x, _w: x.t() + 1},
        "aten.permute.default of the forward",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_script_that_fails_alone_is_left_and_named_in_the_last_line(name: str, tmp_path: Path) -> None:
    backend, keywords, says = CASES[name]
    error = refused(backend, **keywords)
    text = script_of(error)
    assert error.script is not None
    remark = r"1 of \d operations; it was traced and still breaks the limit, but not run"
    assert re.fullmatch(remark, error.script.remark)
    assert (error.script.path.parent / "graph.json").is_file()
    assert not re.search(r"(import|from) (repro_runner|registry)", text)
    code, said = outcome_of(text, tmp_path)
    assert (code, said.startswith(f"still fails: {says}")) == (1, True), said


def test_a_large_graph_is_written_whole_and_the_message_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refused_graph, "MOST_OPERATIONS", 2)
    error = refused(make_mock_backend(constraints=[PeakMemoryConstraint(100)]))
    text = script_of(error)
    assert error.script is not None
    assert error.script.remark == "the whole graph, 6 operations; it was neither traced nor run"
    assert "It was written when the graph was refused, and not run." in text
    assert outcome_of(text, tmp_path)[0] == 1


def test_without_time_the_whole_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    original = refused_graph.script_of_refusal

    def hurried(*arguments: Any, **keywords: Any) -> Any:
        made.append(original(*arguments, **keywords, seconds=0.0))
        return made[0]

    monkeypatch.setattr(refused_graph, "script_of_refusal", hurried)
    refused(make_mock_backend(constraints=lacking("gelu")))
    assert not made[0].traced


class Device(Constraint):
    """Somebody's own rule, which can't be written down: it has state that is no plain value."""

    rule = "own"

    def __init__(self) -> None:
        self.table = object()

    def check(self, node: torch.fx.Node) -> Iterator[Any]:
        if node.op == "call_function":
            yield self.violation(node, "no")


def in_autocast(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return x @ w


@pytest.mark.parametrize(
    "constraint",
    [Device(), StaticShapesConstraint(), DtypeConstraint(["float32"])],
    ids=["unwritable", "needs dynamic shapes", "needs autocast around it"],
)
def test_what_no_script_can_show_is_refused_without_one(constraint: Constraint, home: Path) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        error = refused(make_mock_backend(constraints=[constraint]), in_autocast, dynamic=True)
    assert error.script is None
    assert len(own_message(error)) == 1 + len(error.violations)
    assert list(home.rglob("repro.py")) == []


def test_a_warning_leaves_no_script_and_neither_does_a_program_without_artifacts(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.warns(ConstraintWarning):
        torch.compile(torch.sin, backend=make_mock_backend(strict=False, constraints=lacking("sin")))(torch.ones(3))
    with keep_artifacts(None):
        assert refused(make_mock_backend(constraints=lacking("gelu"))).script is None
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    assert refused(make_mock_backend(constraints=lacking("gelu"))).script is None
    assert list(home.rglob("repro.py")) == []


def test_a_program_that_is_refused_again_is_not_written_again(home: Path) -> None:
    backend = make_mock_backend(constraints=lacking("gelu"))
    first, second = refused(backend), refused(backend)
    assert first.script == second.script
    assert len(list(home.rglob("repro.py"))) == 1
    assert len(list(home.rglob("graph.json"))) == 2


def test_the_process_is_as_it_was(home: Path) -> None:
    """Random numbers, modes, what was compiled before, and Dynamo's counters."""
    other = torch.compile(torch.cos, backend="eager")
    other(torch.ones(3))
    torch.manual_seed(7)
    inputs = torch.randn(4, 6), torch.randn(6, 3)
    torch.manual_seed(7)
    counters.clear()
    with torch.no_grad(), torch.autocast("cpu"), pytest.raises(ConstraintViolations):
        drawing = torch.compile(
            lambda x, w: program(x, w) + torch.randn(3), backend=make_mock_backend(constraints=lacking("exp"))
        )
        drawing(*inputs)
        assert not torch.is_grad_enabled() and torch.is_autocast_enabled("cpu")
    assert torch.equal(torch.randn(4, 6), inputs[0])
    assert counters["aot_autograd"] == {"total": 1, "not_ok": 1}
    graphs = counters["stats"]["unique_graphs"]
    other(torch.ones(3))
    assert counters["stats"]["unique_graphs"] == graphs
    assert len(list(home.rglob("repro.py"))) == 1


def test_a_full_disk_is_one_warning_and_the_same_error(home: Path) -> None:
    home.mkdir()
    with on_small_disk(home, kilobytes=64), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scripts = [refused(make_mock_backend(constraints=lacking(op))).script for op in ("gelu", "exp", "mm", "add")]
    assert scripts[-1] is None
    assert len([each for each in caught if each.category is ArtifactsWarning]) == 1
