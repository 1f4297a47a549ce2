"""A violation about an input of a graph has the name that the user has for it, forward and backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from repro_runner.adapters import AcceleratorCapabilities, check_model
from repro_runner.aot_backend import aot_mock_backend
from repro_runner.backends import ConstraintViolations, make_mock_backend
from repro_runner.cli import main
from repro_runner.constraints import (
    DtypeConstraint,
    PeakMemoryConstraint,
    Violation,
    violation_record,
    violations_document,
)
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.runs import RunFolder

pytestmark = pytest.mark.torch

SCALE = torch.ones(4)


@pytest.fixture(autouse=True)
def fresh_dynamo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer1 = torch.nn.Linear(4, 4)
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 4, bias=False))
        self.bn = torch.nn.BatchNorm1d(4, affine=False)
        self.shift = torch.ones(4)

    def forward(self, x: torch.Tensor, *, ys: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        z = self.layers(self.bn(self.layer1(x))) * self.shift + ys[1] + torch.tensor([1.0, 2.0, 3.0, 4.0])
        return z.sin(), z.cos()


NAMES = [
    "parameter layer1.weight",
    "parameter layer1.bias",
    "input x",
    "buffer bn.num_batches_tracked",
    "buffer bn.running_mean",
    "buffer bn.running_var",
    "parameter layers.0.weight",
    "attribute self.shift",
    "input ys[1]",
    "constant",
]
GRADIENTS = ["gradient of output 0", "gradient of output 1"]


def refused(program: Callable[..., Any], *inputs: Any, backend: Any = make_mock_backend, **keywords: Any) -> Any:
    """What is wrong with its inputs; no dtype is right."""
    compiled = torch.compile(
        program, backend=backend(constraints=[DtypeConstraint([])], check_backward=True), **keywords
    )
    with pytest.raises(ConstraintViolations) as stopped:
        compiled(*inputs) if not isinstance(program, Net) else compiled(inputs[0], ys=[*inputs])
    return [each for each in stopped.value.violations if each.name]


def names(found: Sequence[Violation], graph: str) -> list[str]:
    return [each.name for each in found if each.graph == graph]


@pytest.mark.parametrize(
    ("backend", "dynamic"),
    [(make_mock_backend, False), (make_mock_backend, True), (aot_mock_backend, False)],
    ids=["mock", "mock, dynamic", "aot_mock"],
)
def test_parameters_buffers_inputs_and_gradients_are_named(backend: Any, dynamic: bool) -> None:
    found = refused(Net(), torch.randn(3, 4), torch.randn(4), backend=backend, dynamic=dynamic)
    assert names(found, "forward") == NAMES
    assert names(found, "backward")[:2] == GRADIENTS
    first = found[0]
    assert str(first).partition(": ")[2].startswith("parameter layer1.weight float32[4, 4]: float32 is not one of")
    assert (first.op, violation_record(first)["name"]) == ("placeholder", "parameter layer1.weight")


def with_closure() -> Callable[[torch.Tensor], torch.Tensor]:
    layer, w = torch.nn.Linear(4, 4, bias=False), torch.ones(4)
    return lambda x: layer(x) * w


@pytest.mark.parametrize(
    ("program", "inputs", "expected"),
    [
        (torch.nn.Sequential(torch.nn.Linear(4, 4, bias=False)), [torch.ones(2, 4)],
         ["parameter 0.weight", "input input"]),
        (with_closure(), [torch.ones(2, 4)], ["parameter layer.weight", "input x", "outer variable w"]),
        (lambda x: x * SCALE, [torch.ones(4)], ["input x", "global SCALE"]),
        (lambda *args, **kw: args[0] + kw.get("k", args[1]), [torch.ones(4)] * 2, ["input args[0]"]),
        (lambda d: d["a"][0] + 1, [{"a": [torch.ones(4)]}], ["input d['a'][0]"]),
        (lambda x, y: x.mul_(y), [torch.arange(8.0)[:4], torch.arange(8.0)[4:]], ["input x", "input y"]),
    ],
    ids=["compiled itself", "closure", "global", "variadic", "nested", "written into"],
)  # fmt: skip
def test_a_name_is_the_one_in_the_users_code(program: Any, inputs: list[Any], expected: list[str]) -> None:
    assert names(refused(program, *inputs), "forward") == expected


def test_an_input_that_is_a_view_or_is_written_into_says_so() -> None:
    memory = torch.arange(8.0)
    found = refused(lambda x, y: y.add_(x.mul_(2)), memory[:4], memory[2:6])
    assert names(found, "forward") == ["base of input y"]
    torch._dynamo.reset()
    found = refused(lambda x, w: x.mul_(w), torch.ones(3), torch.ones(3, requires_grad=True))
    assert names(found, "backward") == ["gradient of input x after its change"]


def test_the_names_are_in_what_check_prints_and_in_the_message_about_the_peak() -> None:
    subject = ModelUnderTest(name="net", model=Net(), args=(torch.ones(3, 4),), kwargs={"ys": [torch.ones(4)] * 2})
    result = check_model(subject, AcceleratorCapabilities(supported_dtypes=["float64"], max_memory_bytes=1))
    assert "parameter layers.0.weight" in result.summary()
    assert "placeholder" not in result.summary()
    peaks = [violation for _, violation in result.violations if violation.rule == PeakMemoryConstraint.rule]
    assert "the largest: parameter layer1.weight float32[4, 4] 64 bytes" in peaks[0].message


def test_the_names_are_in_the_report_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path))
    run = RunFolder.create("compile")
    found = refused(lambda x: x.sin(), torch.ones(3))
    run.write_json("violations.json", violations_document(map(violation_record, found)))
    assert main(["analyze", run.id, "--type", "constraints"]) == 0
    assert "input x" in (told := capsys.readouterr().out) and "placeholder" not in told


def test_an_op_is_called_by_its_own_name_and_its_record_has_no_other() -> None:
    op = Violation(rule="dtype", op="aten.mm.default", message="no")
    assert op.subject == "aten.mm.default"
    assert "name" not in violation_record(op)
