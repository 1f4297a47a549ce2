"""Numerics on a real GPU. Skipped, by name, where there is none.

They need pytest, torch and nothing else of the project's: `python -m pytest --noconftest -c /dev/null` runs them on a
machine where nothing can be installed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch.fx import GraphModule, Interpreter, Node

from repro_runner.diff import ComparisonConfig, KernelDiffHarness, compare_tensors
from repro_runner.process.isolated import isolation
from tests.repro_runner.diff.wrong_backends import ENDINGS, FAULTS, MODELS, try_apart, try_ending

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU"),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_inductor_equals_eager_on_a_gpu_forward_and_backward(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Dropout(0.5), torch.nn.Linear(128, 8)
    )
    x = torch.randn(32, 64, device="cuda", dtype=dtype)
    # What is fused is rounded once, and eagerly after each op: bfloat16 has 8 bits for it.
    config = ComparisonConfig(gradients=True, atol=0.05 if dtype == torch.bfloat16 else 1e-4)
    report = KernelDiffHarness(model.to("cuda", dtype), x, comparison_config=config).compare()
    assert report.passed, report.summary()
    assert report.graphs == 1 and len(report.leaves) == 5


def test_the_first_op_that_differs_on_a_gpu_is_found_with_its_random_numbers() -> None:
    class WrongRelu(Interpreter):
        def run_node(self, n: Node) -> Any:
            value = super().run_node(n)
            return value + 1 if getattr(n.target, "__name__", "") == "relu" else value

    def wrong_relu(graph: GraphModule, _inputs: Sequence[Any]) -> Callable[..., Any]:
        return lambda *arguments: WrongRelu(graph).run(*arguments)

    def program(x: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.dropout(torch.sin(x), 0.5)
        return torch.exp(torch.relu(x)) * torch.rand_like(x)

    report = KernelDiffHarness(program, torch.rand(1024, device="cuda"), test_backend=wrong_relu).compare()
    found = report.first_difference
    assert found is not None and found.op is not None
    assert (found.kind, found.op.name) == ("op", "torch.relu")
    assert not report.reference_varies and not report.test_varies


def test_tensors_of_a_gpu_are_compared_there_and_with_those_of_the_cpu() -> None:
    numbers = torch.tensor([1.0, math.nan, math.inf, -0.0])
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2):
        here = numbers.to(dtype)
        assert compare_tensors(here.cuda(), here.cuda()).max_ulp == 0
        assert compare_tensors(here, here.cuda()).passed
        assert not compare_tensors(here, here.cuda(), ComparisonConfig(check_device=True)).passed
    wrong = compare_tensors(torch.tensor([2**53]).cuda(), torch.tensor([2**53 + 1]).cuda())
    assert (wrong.passed, wrong.max_absolute_error, wrong.worst_index) == (False, 1.0, (0,))


@pytest.mark.parametrize("model", MODELS)
def test_no_fault_is_named_wrongly_on_a_gpu(model: str) -> None:
    """The whole table of wrong backends, each in a process of its own."""
    counts = Counter[str]()
    wrong: dict[str, str] = {}
    with isolation("repro_runner.diff") as children:
        for ending in ENDINGS:
            counts[verdict := try_ending(ending, model, children, "cuda")] += 1
            wrong |= {ending: ""} if verdict == "wrong" else {}
        for fault in FAULTS:
            verdict, text = try_apart(fault, model, children, "cuda")
            counts[verdict] += 1
            wrong |= {fault.name: text} if verdict == "wrong" else {}
    print(f"| {model} | {counts['right']} | {counts['not known']} | {counts['wrong']} |")
    assert wrong == {}
