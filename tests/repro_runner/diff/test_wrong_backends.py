"""Backends that are wrong on purpose: what `diff` says of them is right, or that it does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
import torch

from repro_runner.diff.report import describe_first_difference
from tests.repro_runner.diff.wrong_backends import FAULTS, MODELS, Fault, try_fault

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

OWN = ("cached block", "conv net, training", "branching, complex")
NOT_KNOWN = {"only graphs with one output", "more ops while they are watched"}
"""Where nothing more can be known: as soon as a value is watched, the fault is gone, or another is there."""
MORE = {"sums without one gradient", "sums with one gradient twice", "sums for inputs"}
"""Much as another fault: `make prove` has them."""


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize(
    ("fault", "model"),
    [
        pytest.param(fault, fault.model or OWN[at % len(OWN)], marks=[pytest.mark.prove] * (fault.name in MORE))
        for at, fault in enumerate(FAULTS)
    ],
    ids=lambda each: getattr(each, "name", each),
)
def test_a_fault_is_named_rightly(fault: Fault, model: str) -> None:
    verdict, report = try_fault(fault, model)
    assert verdict == ("not known" if fault.name in NOT_KNOWN else "right"), report.summary()


@pytest.mark.prove
@pytest.mark.timeout(3600)
def test_no_fault_is_named_wrongly_in_any_model(capsys: pytest.CaptureFixture[str]) -> None:
    table = {model: Counter[str]() for model in MODELS}
    wrong = []
    for model, counts in table.items():
        for fault in FAULTS:
            verdict, report = try_fault(fault, model)
            counts[verdict] += 1
            if verdict == "wrong":
                first = report.first_difference
                said = describe_first_difference(first, report.graphs) if first else [report.verdict()]
                wrong.append((model, fault.name, said))
    with capsys.disabled():
        print(f"\n| {len(FAULTS)} wrong backends | named rightly | not known | named wrongly |\n|---|---|---|---|")
        for model, counts in table.items():
            print(f"| {model} | {counts['right']} | {counts['not known']} | {counts['wrong']} |")
    assert wrong == []
