"""The benchmark's parts: models of the shapes they claim, a block with as many breaks as asked for, honest numbers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from repro_runner.bench.break_cost import (
    BlockShape,
    block_with_breaks,
    break_places,
    make_layers,
    measure_break_cost,
)
from repro_runner.bench.catalogue import MODELS, SIZES, Measurement
from repro_runner.bench.measuring import CPU_TIME, WALL_TIME, clock_of, latency, spread
from repro_runner.bench.networks import count_parameters, make_model, make_subject, scan
from repro_runner.bench.row import measure_row
from repro_runner.capture import capture_breaks
from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::repro_runner.backends.ConstraintWarning")]


@pytest.fixture(autouse=True)
def fresh_dynamo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("MOCK_STRICT", "0")
    monkeypatch.setenv("GRAPHBREAK_ARTIFACTS", "0")
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


# Models


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_the_parameters_that_the_list_says(name: str, size: str) -> None:
    with torch.device("meta"):
        assert count_parameters(make_model(name, size)) == MODELS[name].sizes[size].parameters


def test_the_whole_models_have_the_sizes_they_are_known_for() -> None:
    millions = {name: round(model.sizes["full"].parameters / 1e6) for name, model in MODELS.items()}
    assert millions == {"bert": 178, "resnet": 12, "ssm": 27}


def test_the_scan_is_the_recurrence_written_as_a_product() -> None:
    torch.manual_seed(0)
    values, log_decays = torch.randn(2, 7, 3, 5), -torch.rand(2, 7, 3)
    keys, queries = torch.randn(2, 7, 4), torch.randn(2, 7, 4)
    state = torch.zeros(2, 3, 4, 5)
    read = []
    for at in range(7):
        taken = torch.einsum("bn,bhc->bhnc", keys[:, at], values[:, at])
        state = log_decays[:, at].exp()[..., None, None] * state + taken
        read.append(torch.einsum("bn,bhnc->bhc", queries[:, at], state))
    torch.testing.assert_close(scan(values, log_decays, keys, queries), torch.stack(read, 1))


def test_the_state_space_model_does_not_look_ahead() -> None:
    subject = make_subject("ssm", "tiny", "cpu")
    (tokens,) = subject.args
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % 16
    before, after = subject.run(), subject.model(changed)
    torch.testing.assert_close(before[:, :-1], after[:, :-1])
    assert not torch.equal(before[:, -1], after[:, -1])


# A row. Every backend but Inductor alone, which the command's test has.


@pytest.mark.prove
@pytest.mark.parametrize("name", MODELS)
def test_a_shrunk_model_is_measured_under_the_mock_accelerator(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCK_ALIGNMENT", "64")
    row = measure_row(Measurement(model=name, backend="mock", size="tiny", runs=3))
    assert (row["graphs"], row["breaks"], row["break_ids"]) == (1, 0, [])
    assert row["violations"] > 0
    assert (row["numerics"]["passed"], row["numerics"]["max_absolute_error"]) == (True, 0.0)
    assert row["parameters"] == MODELS[name].sizes["tiny"].parameters
    assert row["latency"]["min"] <= row["latency"]["low"] <= row["latency"]["median"] <= row["latency"]["high"]
    assert row["throughput"] == pytest.approx(2 / row["latency"]["median"], rel=1e-3)


OWN = """
import torch

def make_model():
    def step(x, *, scale):
        y = x * scale
        torch._dynamo.graph_break()
        return y.relu()
    return step, (torch.randn(6, 4),), {"scale": 2.0}
"""


@pytest.fixture
def own(tmp_path: Path) -> str:
    file = tmp_path / "own.py"
    file.write_text(OWN, "utf-8")
    return f"{file}:make_model"


def test_a_row_counts_breaks_by_id_and_violations_under_the_aot_backend(
    own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCK_ALIGNMENT", "4")
    row = measure_row(Measurement(model=own, backend="aot", runs=3))
    assert (row["graphs"], row["breaks"], row["break_ids"]) == (2, 1, ["GB0025"])
    assert row["violations"] > 0
    assert (row["parameters"], row["samples"], row["numerics"]["passed"]) == (0, 6, True)


def test_eager_has_a_latency_and_nothing_that_a_compiler_would_have(own: str) -> None:
    row = measure_row(Measurement(model=own, backend="eager", runs=3))
    assert row["latency"]["runs"] >= 3
    assert [row[name] for name in ("graphs", "breaks", "violations", "numerics")] == [None] * 4


# Numbers


def test_a_spread_has_the_median_and_the_quartiles() -> None:
    assert spread([4.0, 1.0, 3.0, 2.0, 5.0]) == {"median": 3.0, "low": 2.0, "high": 4.0, "min": 1.0, "runs": 5}
    assert spread([0.123456789]) == {"median": 0.12346, "low": 0.12346, "high": 0.12346, "min": 0.12346, "runs": 1}


def test_a_call_is_measured_as_often_as_asked_and_warmed_up_before() -> None:
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1

    found = latency(call, "cpu", warmup=7, runs=30)
    assert found["runs"] >= 30
    assert calls >= 37


def test_one_thread_is_measured_in_its_own_time_and_many_by_the_clock() -> None:
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        assert (clock_of("cpu"), clock_of("cuda")) == (CPU_TIME, WALL_TIME)
        torch.set_num_threads(2)
        assert clock_of("cpu") == WALL_TIME
    finally:
        torch.set_num_threads(threads)


def test_peak_memory_counts_what_a_call_takes_and_gives_back() -> None:
    """In a new process: in this one, what other tests left would be given back meanwhile."""
    program = (
        "import torch; from repro_runner.bench.measuring import PeakMemory; "
        "print(PeakMemory('cpu').of(lambda: torch.ones(256 * 1024**2 // 4)), "
        "PeakMemory('cpu').of(lambda: torch.ones(4)))"
    )
    printed = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    taken, little = map(int, printed.stdout.split())
    assert 240 * 1024**2 < taken < 400 * 1024**2
    assert little < 20 * 1024**2


# The block with breaks


@pytest.mark.parametrize(
    ("breaks", "places"),
    [(0, set()), (1, {16}), (2, {11, 21}), (4, {6, 13, 19, 26}), (8, {4, 7, 11, 14, 18, 21, 25, 28})],
)
def test_breaks_are_spread_evenly(breaks: int, places: set[int]) -> None:
    assert break_places(32, breaks) == places
    assert len(break_places(32, 16)) == 16


@pytest.mark.parametrize("breaks", [0, 1, 2])
def test_a_block_breaks_as_often_as_asked_and_computes_the_same(breaks: int) -> None:
    shape = BlockShape(name="mine", layers=3, width=8, rows=4)
    layers, x = make_layers(shape), torch.randn(shape.rows, shape.width)
    graphs: list[Any] = []

    def count(graph: torch.fx.GraphModule, _inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    with capture_breaks() as captured, torch.no_grad():
        found = torch.compile(block_with_breaks(layers, breaks), backend=count)(x)
        expected = block_with_breaks(layers, 0)(x)
    assert len(graphs) == breaks + 1
    assert [one.gb_id for one in captured if one.happened] == ["GB0025"] * breaks
    assert torch.equal(found, expected)


def test_the_curve_is_relative_to_the_compiled_block_without_a_break() -> None:
    (curve,) = measure_break_cost(Measurement(size="tiny", runs=3))
    assert curve["block"] == {"name": "tiny", "layers": 2, "width": 8, "rows": 4, "dtype": "float32"}
    points = curve["points"]
    assert [(point["breaks"], point["graphs"]) for point in points] == [(0, 1), (1, 2)]
    assert points[0]["inductor"]["relative"] == {"median": 1.0, "low": 1.0, "high": 1.0, "min": 1.0, "runs": 3}
    assert points[0]["added_per_break_s"] is None
    for point in points:
        for way in ("eager", "inductor"):
            assert point[way]["seconds"]["median"] > 0
            assert point[way]["relative"]["runs"] == 3
