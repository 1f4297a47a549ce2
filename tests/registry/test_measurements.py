from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.errors import InvalidInput
from registry.measured import Measurements, Spread
from registry.measurements import read_measurements
from tests.conftest import ROOT
from tests.measurement_samples import Document, bench, break_cost, curve, point

BREAK_COST, MODELS = "break-cost-2.13.0-cpu.json", "models-2.13.0-cpu.json"


def read(folder: Path, **documents: Document) -> Measurements:
    """Write each document under its name, with dots and dashes put back, and read them all."""
    home = folder / "registry" / "measurements"
    home.mkdir(parents=True)
    for name, document in documents.items():
        (home / name).write_text(json.dumps(document), "utf-8")
    return read_measurements(home)


def problems(folder: Path, name: str, document: Any) -> list[str]:
    with pytest.raises(InvalidInput) as error:
        read(folder, **{name: document})
    return [str(problem) for problem in error.value.problems]


def test_a_curve_is_read_with_its_machine_and_its_spread(tmp_path: Path) -> None:
    (cost,) = read(tmp_path, **{BREAK_COST: break_cost()}).break_costs
    assert (cost.machine.torch, cost.machine.device_name, cost.machine.cores) == ("2.13.0", "aarch64", 2)
    (small,) = cost.curves
    assert (small.name, small.layers, small.rows, small.width, small.clock) == ("small", 32, 16, 64, "CPU time")
    assert [one.breaks for one in small.points] == [0, 1, 16]
    assert small.points[1].compiled == Spread(median=1.1, low=1.09, high=1.11)
    assert small.points[0].added_s is None
    assert small.points[2].added_s is not None
    assert small.points[2].added_s.median == pytest.approx(0.0004)


def test_rows_are_read_and_one_that_failed_says_why(tmp_path: Path) -> None:
    (suite,) = read(tmp_path, **{MODELS: bench()}).suites
    eager, inductor, aot = suite.rows
    assert (suite.alignment, suite.memory_is) == ("16", "the rise of resident memory")
    assert (eager.first_call_s, eager.graphs, eager.equals_eager, eager.memory) == (None, None, None, None)
    assert (inductor.first_call_s, inductor.first_call_warm_s, inductor.equals_eager) == (31.4, 4.2, True)
    assert inductor.latency == Spread(median=0.25, low=0.2, high=0.3)
    assert (aot.latency, aot.cause) == (None, "was killed by SIGKILL: <b>")


def test_the_newest_torch_comes_first_and_of_one_torch_the_cpu(tmp_path: Path) -> None:
    documents = {
        f"break-cost-{torch}-{device}.json": break_cost(torch=torch, device=device)
        for torch, device in (("2.9.0", "cpu"), ("2.11.0", "cuda"), ("2.11.0", "cpu"))
    }
    costs = read(tmp_path, **documents).break_costs
    assert [(cost.machine.torch, cost.machine.device) for cost in costs] == [
        ("2.11.0", "cpu"),
        ("2.11.0", "cuda"),
        ("2.9.0", "cpu"),
    ]


def test_without_a_folder_nothing_was_measured(tmp_path: Path) -> None:
    assert not read_measurements(tmp_path / "none")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"kind": "evidence", "schema": 1}, "kind is 'evidence', not break_cost or bench; move this file elsewhere"),
        ({"kind": "bench", "schema": 2}, "schema 2 is newer than 1; update the project"),
        (
            break_cost(torch="2.12.0"),
            "was measured elsewhere than its name says; rename it to break-cost-2.12.0-cpu.json",
        ),
    ],
)
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, content: Any, told: str) -> None:
    assert problems(tmp_path, BREAK_COST, content) == [f"registry/measurements/{BREAK_COST}:1: {told}"]


def test_what_is_not_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{", "utf-8")
    with pytest.raises(InvalidInput, match=r"x\.json:1: not JSON .* measure it again with `graphbreak bench`"):
        read_measurements(tmp_path)


def without_a_number(document: Document) -> None:
    del document["curves"][0]["points"][1]["inductor"]["relative"]["low"]


def with_infinity(document: Document) -> None:
    document["curves"][0]["points"][1]["of_eager"]["high"] = float("inf")


def with_crossed_quartiles(document: Document) -> None:
    document["curves"][0]["points"][1]["eager"]["relative"]["low"] = 7


def without_the_start(document: Document) -> None:
    del document["curves"][0]["points"][0]


def with_a_lost_graph(document: Document) -> None:
    document["curves"][0]["points"][2]["graphs"] = 3


def without_points(document: Document) -> None:
    document["curves"][0]["points"] = []


def without_cores(document: Document) -> None:
    document["environment"]["cores"] = 0


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (without_a_number, "curves[0].points[1].inductor.relative.low: must be a number, at least 0"),
        (with_infinity, "curves[0].points[1].of_eager.high: must be a number, at least 0"),
        (with_crossed_quartiles, "curves[0].points[1].eager.relative: the median must lie between low and high"),
        (without_the_start, "curves[0].points: must have more and more breaks, from 0"),
        (with_a_lost_graph, "curves[0].points[2].graphs: so many breaks make 17 graphs, not 3"),
        (without_points, "curves[0].points: must be a list, and not empty"),
        (without_cores, "environment.cores: must be a number, at least 1"),
    ],
)
def test_a_curve_that_can_not_be_is_refused(tmp_path: Path, spoil: Callable[[Document], None], told: str) -> None:
    document = break_cost()
    spoil(document)
    found = problems(tmp_path, BREAK_COST, document)
    assert f"registry/measurements/{BREAK_COST}:1: {told}; measure it again with `graphbreak bench`" in found


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("size", "tiny", "rows[1].size: only whole models are compared here"),
        ("parameters", 1.5, "rows[1].parameters: must be a whole number"),
        ("latency", None, "rows[1].latency: must be an object"),
        ("break_ids", [1], "rows[1].break_ids: must be a list of texts"),
        ("numerics", {"passed": "yes"}, "rows[1].numerics.passed: must be true or false"),
        ("title", None, "rows[1].title: must be a text"),
        ("throughput", True, "rows[1].throughput: must be a number, at least 0"),
    ],
)
def test_a_row_that_can_not_be_is_refused(tmp_path: Path, field: str, value: object, told: str) -> None:
    document = bench()
    document["rows"][1][field] = value
    assert any(f":1: {told}" in problem for problem in problems(tmp_path, MODELS, document))


def test_all_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    bad_point = {**point(4, 1.2), "graphs": 9}
    home = tmp_path / "measurements"
    home.mkdir()
    (home / BREAK_COST).write_text(json.dumps(break_cost([curve("", [point(1, 1.0), bad_point])])), "utf-8")
    (home / MODELS).write_text(json.dumps({**bench(), "memory_is": 7}), "utf-8")
    with pytest.raises(InvalidInput) as error:
        read_measurements(home)
    assert [problem.message.partition(":")[0] for problem in error.value.problems] == [
        "curves[0].points[1].graphs",
        "curves[0].points",
        "memory_is",
    ]


def test_what_is_committed_covers_the_curve_and_the_models() -> None:
    found = read_measurements(ROOT / "registry" / "measurements")
    assert [one.breaks for one in found.break_costs[0].curves[0].points] == [0, 1, 2, 4, 8, 16]
    for suite in found.suites:
        assert {row.model for row in suite.rows} == {"bert", "resnet", "ssm"}
        assert {row.backend for row in suite.rows} == {"eager", "inductor", "mock", "aot"}
        cached = {row.backend for row in suite.rows if row.first_call_warm_s is not None}
        assert cached <= {"inductor", "aot"}
        assert all(row.first_call_s is None for row in suite.rows if row.backend == "eager")
    assert "cpu" in {cost.machine.device for cost in found.break_costs}
    assert "cpu" in {suite.machine.device for suite in found.suites}
