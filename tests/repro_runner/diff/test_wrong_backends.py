"""Backends that are wrong on purpose: what `diff` says of them is right, or that it does not know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
import torch

from repro_runner.diff.report import describe_first_difference
from repro_runner.process.isolated import isolation
from tests.repro_runner.diff.wrong_backends import ENDINGS, FAULTS, MODELS, Fault, try_ending, try_fault

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

OWN = ("cached block", "conv net, training", "branching, complex")
NOT_KNOWN = {"only graphs with one output", "more ops while they are watched"}
"""Where nothing more can be known: as soon as a value is watched, the fault is gone, or another is there."""


@pytest.fixture(autouse=True)
def fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize(
    ("fault", "model"),
    [
        pytest.param(fault, fault.model or OWN[at % len(OWN)], marks=[pytest.mark.prove] * (at % 3))
        for at, fault in enumerate(FAULTS)
    ],
    ids=lambda each: getattr(each, "name", each),
)
def test_a_fault_is_named_rightly(fault: Fault, model: str) -> None:
    verdict, report = try_fault(fault, model)
    assert verdict == ("not known" if fault.name in NOT_KNOWN else "right"), report.summary()


@pytest.fixture(scope="module")
def table(request: pytest.FixtureRequest) -> Iterator[dict[str, Counter[str]]]:
    """Verdicts by model; printed in the end as benchmarks/diff.md has them."""
    rows: dict[str, Counter[str]] = {}
    yield rows
    total = sum(rows.values(), Counter[str]())
    lines = [
        f"| {len(FAULTS) + len(ENDINGS)} wrong backends on | named right | not known | wrong statement |",
        "|---|---:|---:|---:|",
    ]
    for name, counts in {**rows, "all": total}.items():
        lines.append(f"| {name} | {counts['right']} | {counts['not known']} | {counts['wrong']} |")
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n" + "\n".join(lines))


@pytest.mark.prove
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.usefixtures("one_server")
def test_no_fault_is_named_wrongly_in_any_model(model: str, table: dict[str, Counter[str]]) -> None:
    said: dict[str, list[str]] = {}
    table[model] = Counter()
    with isolation() as children:
        for ending in ENDINGS:
            verdict = try_ending(ending, model, children)
            table[model][verdict] += 1
            said |= {ending: []} if verdict == "wrong" else {}
    for fault in FAULTS:
        verdict, report = try_fault(fault, model)
        table[model][verdict] += 1
        first = report.first_difference
        if verdict == "wrong":
            said[fault.name] = describe_first_difference(first, report.graphs) if first else [report.verdict()]
    assert said == {}
