"""The mock accelerator with Inductor's kernels: equal to eager, checked before it is lowered, IR and code kept."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters
from torch._functorch import config as functorch_config
from torch._inductor import config as inductor_config
from torch.utils._pytree import tree_leaves

from repro_runner.aot_backend import aot_mock_backend
from repro_runner.backends import (
    ArtifactsWarning,
    ConstraintViolations,
    ConstraintWarning,
    MalformedSettings,
    collect_violations,
    graph_dumps,
    keep_artifacts,
)
from repro_runner.constraints import (
    Constraint,
    DtypeConstraint,
    LayoutConstraint,
    MemoryConstraint,
    PeakMemoryConstraint,
    ShapeConstraint,
    UnsupportedOpsConstraint,
    Violation,
    op_name,
)
from repro_runner.constraints.environment import mock_variables
from repro_runner.runs import RunFolder
from tests.repro_runner.fixtures.watched_shapes import traced_with

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def fresh_dynamo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for variable in mock_variables():
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What came of one step of training, and what it left."""

    run: RunFolder
    answers: tuple[list[torch.Tensor], list[torch.Tensor]]
    """Output and gradients: compiled, and eager."""
    left_behind: list[Path]


def stepped(model: Callable[..., Any], x: torch.Tensor, parameters: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    output = model(x)
    return [output, *torch.autograd.grad(output.square().mean(), parameters)]


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> Step:
    """A model with a break in it, trained in a folder of its own; compiled twice: then Inductor's caches are warm."""
    folder = tmp_path_factory.mktemp("step")
    run = RunFolder.create("check", home=folder / "home")
    layer = torch.nn.Linear(8, 6)

    def model(x: torch.Tensor) -> torch.Tensor:
        y = torch.softmax(layer(x).transpose(0, 1), -1)
        torch._dynamo.graph_break()
        return y.exp()

    x, parameters = torch.randn(5, 8), list(layer.parameters())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for _ in range(2):
            torch._dynamo.reset()
            with keep_artifacts(run):
                compiled = stepped(torch.compile(model, backend=aot_mock_backend), x, parameters)
    torch._dynamo.reset()
    left_behind = [path for path in folder.iterdir() if path.name != "home"]
    return Step(run=run, answers=(compiled, stepped(model, x, parameters)), left_behind=left_behind)


# It computes what eager does.


def test_a_step_of_training_equals_eager(step: Step) -> None:
    for compiled, eager in zip(*step.answers, strict=True):
        torch.testing.assert_close(compiled, eager)
        assert compiled.stride() == eager.stride()


SCALE = torch.tensor(3.0)


def odd(x: torch.Tensor, ys: list[torch.Tensor]) -> dict[str, Any]:
    """Writes into its input, reads constants, takes a branch and a list, and returns a nest."""
    x.mul_(2)
    taken = torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (ys[0],))
    return {"a": (x * SCALE, [taken.transpose(0, 1), None]), "b": "text", "c": x.shape[0] * 2}


def test_inference_with_dynamic_shapes_equals_eager_and_compiles_once() -> None:
    compiled = torch.compile(odd, backend=aot_mock_backend, dynamic=True, fullgraph=True)
    inputs = [torch.arange(rows * 3.0).reshape(rows, 3) for rows in (4, 5, 9)]
    ours, eager = ([each.clone() for each in inputs] for _ in range(2))
    counters["stats"].clear()
    with torch.no_grad():
        answers = [compiled(each, [each + 1]) for each in ours]
    assert counters["stats"]["unique_graphs"] == 1
    expected = [odd(each, [each + 1]) for each in eager]
    for leaf, wanted in zip(tree_leaves([answers, ours]), tree_leaves([expected, eager]), strict=True):
        assert type(leaf) is type(wanted)
        assert torch.allclose(leaf, wanted) if isinstance(wanted, torch.Tensor) else leaf == wanted


def all_six() -> list[Constraint]:
    return [
        ShapeConstraint(alignment=8),
        DtypeConstraint([torch.float16]),
        MemoryConstraint(max_bytes=1),
        LayoutConstraint(),
        UnsupportedOpsConstraint(["mm"]),
        PeakMemoryConstraint(max_bytes=1),
    ]


@pytest.mark.filterwarnings("ignore::repro_runner.backends.ConstraintWarning")
@pytest.mark.prove
def test_it_adds_no_guard_and_no_recompile_to_inductors() -> None:
    """Three shapes: a graph for the first, one with dynamic shapes for the second and the third. Without the caches of
    graphs, which write the same guards in another form."""
    uncached = functorch_config.patch(enable_autograd_cache=False), inductor_config.patch(fx_graph_cache=False)
    with uncached[0], uncached[1], collect_violations() as found:
        inductor = torch._dynamo.backends.registry.lookup_backend("inductor")
        expected = traced_with(inductor, None, rows=(4, 5, 16))
        assert expected[0] == 2
        checking = aot_mock_backend(strict=False, constraints=all_six(), check_backward=True)
        assert traced_with(checking, None, rows=(4, 5, 16)) == expected
    dynamic = {each.graph for each in found if any(isinstance(size, str) for size in each.shape or ())}
    assert dynamic >= {"forward", "backward"}


# It keeps what Inductor made.


@pytest.mark.parametrize("compilation", ["first", "second, with warm caches"])
@pytest.mark.parametrize("part", ["forward", "backward"])
def test_ir_and_generated_code_are_kept_for_forward_and_backward(step: Step, part: str, compilation: str) -> None:
    """Of both graphs: the one before the break, and the one after it."""
    for index in (0, 1) if compilation == "first" else (2, 3):
        document = step.run.read_json(f"graphs/{index:04d}/graph.json")
        assert document["backend"] == "aot_mock"
        assert document["inductor"][part] == ["ir_pre_fusion.txt", "ir_post_fusion.txt", "output_code.py"]
        folder = step.run.path / f"graphs/{index:04d}/inductor/{part}"
        before, after, code = ((folder / name).read_text("utf-8") for name in document["inductor"][part])
        assert "SchedulerNode(ComputedBuffer)" in before
        assert "SchedulerNode" in after
        assert "cpp_fused_" in code
        assert "#pragma GCC ivdep" in code or "at::vec" in code


def test_each_graph_is_kept_before_and_after_aotautograd(step: Step) -> None:
    first = step.run.path / "graphs/0000"
    assert "torch.softmax" in (first / "pre_aot.txt").read_text("utf-8")
    forward = (first / "forward.txt").read_text("utf-8")
    assert "torch.ops.aten.addmm.default" in forward
    assert "_softmax" not in forward, "Inductor's decompositions"
    assert "y = torch.softmax(layer(x)" in forward, "the user's line"
    assert "tangents_1" in (first / "backward.txt").read_text("utf-8")
    graphs = step.run.read_json("graphs/0000/graph.json")["graphs"]
    assert graphs["backward"]["peak_bytes"] > 0
    assert (first / "backward.svg").is_file()


def test_nothing_else_is_left_in_the_users_folder(step: Step) -> None:
    assert step.left_behind == []


def test_a_run_that_vanishes_before_the_backward_is_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_dumps, "_gave_up", set())
    run = RunFolder.create("check", home=tmp_path)
    x = torch.ones(3, requires_grad=True)
    with keep_artifacts(run):
        answer = torch.compile(torch.sin, backend=aot_mock_backend)(x)
    shutil.rmtree(run.path)
    with pytest.warns(ArtifactsWarning, match="vanished") as warned:
        (gradient,) = torch.autograd.grad(answer.sum(), x)
    assert len(warned) == 1
    torch.testing.assert_close(gradient, x.cos())
    assert not run.path.exists()


# It refuses, or warns, before anything is lowered.


def found_in(
    program: Callable[..., Any], inputs: list[torch.Tensor], *constraints: Constraint, dynamic: bool = False
) -> list[Violation]:
    torch._dynamo.reset()
    backend = aot_mock_backend(strict=True, constraints=constraints, check_backward=True)
    try:
        torch.compile(program, backend=backend, dynamic=dynamic, fullgraph=True)(*inputs)
    except ConstraintViolations as refused:
        return list(refused.violations)
    raise AssertionError("nothing was refused")


def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.matmul(x, w.t()).relu()


def product_inputs() -> list[torch.Tensor]:
    return [torch.randn(4, 6, requires_grad=True), torch.randn(3, 6, requires_grad=True)]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_all_limits_fire_forward_and_backward_in_one_error(dynamic: bool) -> None:
    found = found_in(product, product_inputs(), *all_six(), dynamic=dynamic)
    for constraint in all_six():
        assert {each.graph for each in found if each.rule == constraint.rule} >= {"forward", "backward"}, (
            constraint.rule
        )


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_what_the_forward_or_the_backward_repeats_is_told_once(dynamic: bool) -> None:
    found = found_in(product, product_inputs(), *all_six(), dynamic=dynamic)
    assert "pre-aot" not in {each.graph for each in found}


def test_what_aotautograd_removes_is_found_before_it() -> None:
    """Nothing is left of a conversion to the dtype that a tensor has; the program asks for it all the same."""

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        z = y.to(torch.float32)
        return z.cos()

    found = found_in(program, [torch.ones(3)], DtypeConstraint([torch.bool]))
    line = program.__code__.co_firstlineno
    assert [(each.graph, each.op, int(each.source.rpartition(":")[2]) - line) for each in found] == [
        ("pre-aot", "Tensor.to", 2),
        ("forward", "placeholder", 1),
        ("forward", "aten.sin.default", 1),
        ("forward", "aten.cos.default", 3),
    ]


def test_a_rule_of_ones_own_can_be_about_torchs_functions() -> None:
    class NoSoftmax(Constraint):
        rule = "no-softmax"

        def check(self, node: torch.fx.Node) -> Iterator[Violation]:
            if op_name(node) in ("torch.softmax", "Tensor.softmax"):
                yield self.violation(node, "decomposed, it is slow here")

    found = found_in(lambda x: torch.softmax(x, 0) + x.softmax(0), [torch.ones(3)], NoSoftmax())
    assert [(each.graph, each.op) for each in found] == [("pre-aot", "torch.softmax"), ("pre-aot", "Tensor.softmax")]


def test_a_region_of_its_own_is_checked_with_the_rest() -> None:
    region = torch.compiler.nested_compile_region(lambda x: x.sin() * 2)
    x = torch.ones(3, requires_grad=True)
    found = found_in(lambda x: region(region(x)).exp(), [x], UnsupportedOpsConstraint(["sin", "cos", "exp"]))
    assert {(each.graph, each.op) for each in found} == {
        ("forward", "aten.exp.default"),
        ("forward", "aten.sin.default"),
        ("backward", "aten.cos.default"),
    }


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_a_backward_is_refused_when_it_runs_and_that_is_kept(dynamic: bool, tmp_path: Path) -> None:
    run = RunFolder.create("check", home=tmp_path)
    backend = aot_mock_backend(constraints=[UnsupportedOpsConstraint(["cos"])])
    compiled, x = torch.compile(torch.sin, backend=backend, dynamic=dynamic), torch.ones(3, requires_grad=True)
    with keep_artifacts(run):
        compiled(x)
    assert run.read_json("violations.json")["violations"] == []
    for _ in range(2):
        with pytest.raises(ConstraintViolations, match=r"aten\.cos\.default.*backward"):
            torch.autograd.grad(compiled(x).sum(), x)
    for document in (run.read_json("violations.json"), run.read_json("graphs/0000/graph.json")):
        assert [(each["graph"], each["op"]) for each in document["violations"]] == [("backward", "aten.cos.default")]


def test_not_strict_warns_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_STRICT", "0")
    monkeypatch.setenv("MOCK_MAX_MEMORY", "8")
    x = torch.ones(3)
    with pytest.warns(ConstraintWarning, match="2 violations of the device's limits"):
        answer = torch.compile(torch.sin, backend=aot_mock_backend)(x)
    torch.testing.assert_close(answer, x.sin())
    monkeypatch.setenv("MOCK_STRICT", "1")
    torch._dynamo.reset()
    with pytest.raises(ConstraintViolations):
        torch.compile(torch.sin, backend=aot_mock_backend)(x)


# How it is configured.


def test_options_win_over_arguments_and_these_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_ALIGNMENT", "4")
    no_mm = [UnsupportedOpsConstraint(["mm"])]

    def refused_rules(backend: Any = aot_mock_backend, **keywords: Any) -> set[str]:
        torch._dynamo.reset()
        with pytest.raises(ConstraintViolations) as refused:
            torch.compile(product, backend=backend, **keywords)(*product_inputs())
        return {each.rule for each in refused.value.violations}

    assert refused_rules() == {"shape-alignment"}
    assert refused_rules(aot_mock_backend(constraints=no_mm)) == {"unsupported-op"}
    lenient = aot_mock_backend(strict=False, constraints=[])
    assert refused_rules(lenient, options={"strict": True, "constraints": no_mm}) == {"unsupported-op"}


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(TypeError, match="no such argument: strickt; there are strict, constraints and check"):
        aot_mock_backend(strickt=False)  # type: ignore[call-overload]
    with pytest.raises(MalformedSettings, match="constraints: 'mm' is not a Constraint"):
        torch.compile(product, backend=aot_mock_backend(constraints=["mm"]))(*product_inputs())  # type: ignore[list-item]
