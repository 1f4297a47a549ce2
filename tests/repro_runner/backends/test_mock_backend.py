"""The mock accelerator: computes what eager does, refuses what its limits forbid, and leaves guards as they were."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.fx import Node
from torch.utils._pytree import tree_leaves

from repro_runner.aot_backend import aot_mock_backend
from repro_runner.backends import (
    ConstraintViolations,
    ConstraintWarning,
    MalformedSettings,
    collect_violations,
    make_mock_backend,
    mock_backend,
)
from repro_runner.constraints import (
    Constraint,
    DtypeConstraint,
    LayoutConstraint,
    MemoryConstraint,
    ShapeConstraint,
    UnsupportedOpsConstraint,
    Violation,
)
from repro_runner.constraints.environment import mock_variables
from tests.conftest import ROOT
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


def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.matmul(x, w).relu()


def product_inputs() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x, w = torch.randn(4, 6, generator=generator), torch.randn(6, 3, generator=generator)
    return x.requires_grad_(), w.requires_grad_()


def all_five() -> list[Constraint]:
    return [
        ShapeConstraint(alignment=8),
        DtypeConstraint([torch.float16]),
        MemoryConstraint(max_bytes=1),
        LayoutConstraint(),
        UnsupportedOpsConstraint(["mm"]),
    ]


# It computes what eager does.


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_outputs_and_gradients_equal_eager(dynamic: bool) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Linear(8, 3))
    parameters = list(model.parameters())
    x = torch.randn(5, 6)
    expected = model(x)
    answer = torch.compile(model, backend=mock_backend, dynamic=dynamic, fullgraph=True)(x)
    torch.testing.assert_close(answer, expected, rtol=0, atol=0)
    torch.testing.assert_close(
        torch.autograd.grad(answer.square().sum(), parameters),
        torch.autograd.grad(expected.square().sum(), parameters),
    )


SCALE = torch.tensor(3.0)


def mutates_and_returns_nothing(x: torch.Tensor) -> None:
    x.mul_(2)


def mutates_and_returns(x: torch.Tensor) -> torch.Tensor:
    x[0] = 5.0
    return x * 2


def returns_only_a_number(x: torch.Tensor) -> int:
    x.add_(1)
    return x.shape[0] * 2


def uses_constants(x: torch.Tensor) -> torch.Tensor:
    return x * SCALE + torch.tensor([1.0, 2.0, 3.0])


def returns_a_nest(x: torch.Tensor) -> dict[str, Any]:
    return {"a": (x + 1, [x - 1, None]), "b": "text", "c": x}


def takes_a_branch(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))  # type: ignore[no-any-return]


def takes_a_list(xs: list[torch.Tensor]) -> torch.Tensor:
    return xs[0] + xs[1]


@torch.compiler.nested_compile_region
def region(x: torch.Tensor) -> torch.Tensor:
    return x.sin() * 2


def repeats_a_region(x: torch.Tensor) -> torch.Tensor:
    return region(region(x))  # type: ignore[no-any-return]


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    "program",
    [
        mutates_and_returns_nothing,
        mutates_and_returns,
        returns_only_a_number,
        uses_constants,
        returns_a_nest,
        takes_a_branch,
        repeats_a_region,
    ],
)
@pytest.mark.filterwarnings("ignore::repro_runner.backends.ConstraintWarning")
def test_odd_programs_run_as_in_eager_and_are_checked(program: Callable[..., Any], dynamic: bool) -> None:
    ours, eager = torch.ones(3), torch.ones(3)
    backend = make_mock_backend(strict=False, constraints=all_five())
    with collect_violations() as found:
        answer = torch.compile(program, backend=backend, dynamic=dynamic, fullgraph=True)(ours)
    for leaf, expected in zip(tree_leaves([answer, ours]), tree_leaves([program(eager), eager]), strict=True):
        assert torch.equal(leaf, expected) if isinstance(expected, torch.Tensor) else leaf == expected
    assert {each.rule for each in found} >= {"dtype", "memory"}


def test_inputs_in_a_list_are_taken_apart() -> None:
    answer = torch.compile(takes_a_list, backend=mock_backend, fullgraph=True)([torch.ones(3), torch.ones(3)])
    torch.testing.assert_close(answer, torch.full((3,), 2.0))


def test_a_region_of_its_own_is_reported_in_the_same_error_as_the_rest() -> None:
    x = torch.ones(3, requires_grad=True)
    backend = make_mock_backend(constraints=[UnsupportedOpsConstraint(["sin", "cos", "exp"])], check_backward=True)
    with pytest.raises(ConstraintViolations) as refused:
        torch.compile(lambda x: repeats_a_region(x).exp(), backend=backend)(x)
    ops = [(each.graph, each.op) for each in refused.value.violations]
    assert ops == [("forward", "aten.exp.default"), ("forward", "aten.sin.default"), ("backward", "aten.cos.default")]


def test_the_defaults_accept_an_ordinary_program() -> None:
    with collect_violations() as found, warnings.catch_warnings():
        warnings.simplefilter("error", ConstraintWarning)
        inputs = product_inputs()
        torch.autograd.grad(torch.compile(product, backend=mock_backend)(*inputs).sum(), inputs)
    assert found == []


# It refuses, or warns.


def test_strict_raises_one_error_that_lists_everything() -> None:
    with pytest.raises(ConstraintViolations) as refused, collect_violations() as found:
        backend = make_mock_backend(constraints=all_five(), check_backward=True)
        torch.compile(product, backend=backend)(*product_inputs())
    violations = refused.value.violations
    assert list(violations) == found
    assert {each.rule for each in violations} == {constraint.rule for constraint in all_five()}
    assert {each.graph for each in violations} == {"forward", "backward"}
    message = str(refused.value)
    assert message.startswith(f"{len(violations)} violations of the device's limits:\n")
    assert all(f"\n  {each}" in message for each in violations)
    assert isinstance(refused.value, RuntimeError)


def test_a_strict_error_comes_back_each_time() -> None:
    compiled = torch.compile(product, backend=make_mock_backend(constraints=[UnsupportedOpsConstraint(["mm"])]))
    for _ in range(2):
        with pytest.raises(ConstraintViolations):
            compiled(*product_inputs())


def test_not_strict_warns_once_per_graph_and_goes_on() -> None:
    backend = make_mock_backend(strict=False, constraints=[UnsupportedOpsConstraint(["mm", "exp"])])

    def program(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        y = product(x, w)
        torch._dynamo.graph_break()
        return (y + 1).exp()

    inputs = product_inputs()
    with pytest.warns(ConstraintWarning) as warned:
        answer = torch.compile(program, backend=backend)(*inputs)
        torch.autograd.grad(answer.sum(), inputs)
    torch.testing.assert_close(answer, (product(*inputs) + 1).exp())
    texts = [str(each.message) for each in warned if each.category is ConstraintWarning]
    assert [text.splitlines()[0] for text in texts] == [
        "1 violation of the device's limits:",
        "1 violation of the device's limits:",
        "2 violations of the device's limits:",
    ], "two forwards, then the backward of the first: the other one's is fine"


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_a_backward_is_refused_each_time_it_runs_and_not_before(dynamic: bool) -> None:
    """With dynamic shapes, torch has the backward compiled with the forward, and suppresses what is raised there."""
    backend = make_mock_backend(constraints=[UnsupportedOpsConstraint(["threshold_backward"])])
    compiled = torch.compile(product, backend=backend, dynamic=dynamic)
    inputs = product_inputs()
    for answer in [compiled(*inputs) for _ in range(2)]:
        with pytest.raises(ConstraintViolations, match=r"threshold_backward.*backward"), collect_violations() as found:
            torch.autograd.grad(answer.sum(), inputs)
        assert [each.graph for each in found] == ["backward"]
    with torch.no_grad():
        compiled(*product_inputs())


@pytest.mark.parametrize("asked", ["argument", "option", "environment"])
def test_a_backward_that_may_never_run_is_refused_with_the_forward_if_asked(
    asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_CHECK_BACKWARD", "1" if asked == "environment" else "0")
    limits = [UnsupportedOpsConstraint(["threshold_backward"])]
    backend = make_mock_backend(constraints=limits, check_backward=True if asked == "argument" else None)
    options = {"options": {"check_backward": True}} if asked == "option" else {}
    with pytest.raises(ConstraintViolations, match=r"threshold_backward.*backward"):
        torch.compile(product, backend=backend, **options)(*product_inputs())  # type: ignore[call-overload]
    with torch.no_grad():
        torch.compile(product, backend=backend, **options)(*product_inputs())  # type: ignore[call-overload]


def test_collections_nest_end_and_belong_to_their_thread() -> None:
    backend = make_mock_backend(strict=False, constraints=[UnsupportedOpsConstraint(["sin"])])

    def run() -> None:
        torch._dynamo.reset()
        torch.compile(torch.sin, backend=backend)(torch.ones(3))

    with pytest.warns(ConstraintWarning):
        with collect_violations() as outer:
            run()
            with collect_violations() as inner:
                run()
            other = threading.Thread(target=run)
            other.start()
            other.join()
        run()
    assert (len(outer), len(inner)) == (2, 1)


# How it is configured.


def refused_rules(**keywords: Any) -> set[str]:
    """The rules that stop `product`, when it stops."""
    torch._dynamo.reset()
    try:
        torch.compile(product, **({"backend": mock_backend} | keywords))(*product_inputs())
    except ConstraintViolations as refused:
        return {each.rule for each in refused.violations}
    return set()


def test_the_environment_is_read_at_each_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused_rules() == set()
    monkeypatch.setenv("MOCK_ALIGNMENT", "4")
    assert refused_rules() == {"shape-alignment"}
    monkeypatch.setenv("MOCK_MAX_MEMORY", "16")
    assert refused_rules() == {"shape-alignment", "memory"}
    monkeypatch.setenv("MOCK_ALIGNMENT", "")
    assert refused_rules() == {"memory"}
    monkeypatch.setenv("MOCK_STRICT", "0")
    with pytest.warns(ConstraintWarning, match="takes 96 bytes, more than 16"):
        assert refused_rules() == set()


def train_a_layer() -> None:
    """All sizes of the layer are multiples of 16; the gradient of its bias passes through [1, 32]."""
    torch._dynamo.reset()
    layer = torch.nn.Linear(16, 32)
    torch.compile(layer, backend=mock_backend)(torch.randn(48, 16)).square().mean().backward()


def test_the_gradient_of_a_bias_is_aligned_unless_sizes_of_one_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_ALIGNMENT", "16")
    train_a_layer()
    monkeypatch.setenv("MOCK_ALIGNMENT_SPARE_ONES", "0")
    with pytest.raises(
        ConstraintViolations, match=r"float32\[1, 32\]: dimension 0 is 1: not a multiple of 16 elements"
    ):
        train_a_layer()
    monkeypatch.setenv("MOCK_ALIGNMENT_DIMS", "-1")
    train_a_layer()


def test_ops_dtypes_and_layouts_are_set_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_DENY_OPS", "mm")
    monkeypatch.setenv("MOCK_DTYPES", "bool,float64")
    monkeypatch.setenv("MOCK_LAYOUT", "channels_last")
    assert refused_rules() == {"unsupported-op", "dtype", "layout"}


def test_arguments_win_over_the_environment_and_options_over_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_ALIGNMENT", "4")
    no_mm = [UnsupportedOpsConstraint(["mm"])]
    assert refused_rules(backend=make_mock_backend(constraints=no_mm)) == {"unsupported-op"}
    assert refused_rules(backend=make_mock_backend(constraints=[])) == set()
    with pytest.warns(ConstraintWarning):
        assert refused_rules(backend=make_mock_backend(strict=False)) == set()
    monkeypatch.setenv("MOCK_STRICT", "0")
    assert refused_rules(backend=make_mock_backend(strict=True)) == {"shape-alignment"}
    assert refused_rules(options={"strict": True, "constraints": no_mm}) == {"unsupported-op"}
    lenient = make_mock_backend(strict=False, constraints=[])
    assert refused_rules(backend=lenient, options={"strict": True, "constraints": no_mm}) == {"unsupported-op"}


def test_everything_malformed_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_STRICT", "maybe")
    monkeypatch.setenv("MOCK_ALIGNMENT", "0")
    monkeypatch.setenv("MOCK_MAX_MEMORY", "16gigs")
    monkeypatch.setenv("MOCK_MAX_PEAK_MEMORY", "-1")
    with pytest.raises(MalformedSettings) as malformed:
        refused_rules()
    assert str(malformed.value).split("\n\n")[0].splitlines() == [
        "MOCK_ALIGNMENT='0': must be a whole number, at least 1",
        "MOCK_MAX_MEMORY='16gigs': must be a size in bytes, such as 4096 or 16 GiB",
        "MOCK_MAX_PEAK_MEMORY='-1': must be a size in bytes, such as 4096 or 16 GiB",
        "MOCK_STRICT='maybe': must be 0 or 1",
    ]
    with pytest.raises(MalformedSettings) as malformed:
        refused_rules(options={"strict": "0", "constraints": ["mm"], "alignment": 8, "check_backward": 2})
    assert str(malformed.value).split("\n\n")[0].splitlines() == [
        "alignment: no such option; there are strict, constraints and check_backward",
        "check_backward=2: must be True or False",
        "constraints: 'mm' is not a Constraint such as DtypeConstraint([\"float32\"])",
        "strict='0': must be True or False",
    ]


@pytest.mark.parametrize("make", [make_mock_backend, aot_mock_backend])
@pytest.mark.parametrize(
    ("constraints", "problem"),
    [
        ([3], 'constraints: 3 is not a Constraint such as DtypeConstraint(["float32"])'),
        (LayoutConstraint(), 'must be a list such as [DtypeConstraint(["float32"])], not LayoutConstraint'),
        ("mm", 'must be a list such as [DtypeConstraint(["float32"])], not str'),
    ],
    ids=["a number", "no list", "a text"],
)
def test_arguments_are_refused_when_the_backend_is_made(
    make: Callable[..., Any], constraints: Any, problem: str
) -> None:
    with pytest.raises(MalformedSettings) as malformed:
        make(constraints=constraints, strict="no")
    first, second = str(malformed.value).splitlines()
    assert problem in first
    assert second == "strict='no': must be True or False"


@pytest.mark.parametrize("value", ["-1", "1.5", "1_000", "0x10", "²", "9" * 5000])
def test_numbers_are_plain(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_MAX_MEMORY", value)
    with pytest.raises(MalformedSettings, match="MOCK_MAX_MEMORY"):
        refused_rules()


# How it is found.

BY_NAME = """
import torch
torch.compile(torch.sin, backend="mock", options={"strict": True})(torch.ones(3))
for backend in ("mock", "aot_mock"):
    try:
        torch.compile(torch.matmul, backend=backend, dynamic=True)(torch.ones(3, 3), torch.ones(3, 3))
    except RuntimeError as refused:
        print(type(refused).__name__)
"""


@pytest.mark.prove
def test_the_entry_point_is_found_by_name(tmp_path: Path) -> None:
    """As torch finds it after an install: by the metadata of a distribution on the path."""
    metadata = tmp_path / "mock_backend_test-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mock-backend-test\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[torch_dynamo_backends]\n"
        "mock = repro_runner.backends.mock:mock_backend\n"
        "aot_mock = repro_runner.aot_backend.mock:aot_mock_backend\n"
    )
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "MOCK_MAX_MEMORY": "12"}
    answer = subprocess.run(
        [sys.executable, "-c", BY_NAME], env=environment, capture_output=True, text=True, check=False
    )
    assert (answer.stdout, answer.returncode) == ("ConstraintViolations\n" * 2, 0), answer.stderr


def test_importing_the_package_imports_no_torch() -> None:
    program = (
        "import sys, repro_runner\n"
        "assert 'torch' not in sys.modules\n"
        "from repro_runner import aot_mock_backend, mock_backend\n"
        "assert 'torch' in sys.modules and callable(mock_backend) and callable(aot_mock_backend)\n"
        "assert not hasattr(repro_runner, 'no_such_name')\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


# It leaves guards as they were.


class Careless(Constraint):
    """What a constraint must not do: branch on a SymInt."""

    rule = "careless"

    def check(self, node: Node) -> Iterator[Violation]:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and any(size % 2 for size in value.shape):
            yield self.violation(node, "odd")


@pytest.mark.parametrize(("dynamic", "graphs"), [(True, 1), pytest.param(None, 2, marks=pytest.mark.prove)])
@pytest.mark.filterwarnings("ignore::repro_runner.backends.ConstraintWarning")
def test_constraints_add_no_guard_and_no_recompile(dynamic: bool | None, graphs: int) -> None:
    """Against torch's own backend that runs AOTAutograd's graphs eagerly; a guard that is added does show here."""
    torchs_own = torch._dynamo.backends.registry.lookup_backend("aot_eager_default_partitioner")
    expected = traced_with(torchs_own, dynamic)
    assert expected[0] == graphs
    with collect_violations() as found:
        assert traced_with(make_mock_backend(strict=False, constraints=all_five()), dynamic) == expected
    assert any(isinstance(size, str) for each in found for size in each.shape or ())
    assert traced_with(make_mock_backend(strict=False, constraints=[]), dynamic) == expected
    careless = traced_with(make_mock_backend(strict=False, constraints=[Careless()]), dynamic)
    assert careless[0] > graphs
    assert careless[1][-1] != expected[1][-1]
