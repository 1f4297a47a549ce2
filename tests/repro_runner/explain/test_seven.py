"""A program with seven lines that break: all are found, named and counted, as torch's log and counters have them."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo import utils

from repro_runner.explain import Report
from repro_runner.explain.find_sites import GIVEN_UP
from repro_runner.explain.program import ProgramToRun
from repro_runner.explain.running import run_program
from tests.repro_runner.explain.test_sites import logged_places, places
from tests.repro_runner.fixtures import FIXTURES

pytestmark = pytest.mark.torch

SEVEN = FIXTURES / "programs" / "seven.py"


def line_of(path: Path, text: str, number: int = 0) -> int:
    """The line of the number-th occurrence."""
    return [index for index, line in enumerate(path.read_text().splitlines(), 1) if text in line][number]


@pytest.fixture(scope="module")
def seven() -> tuple[Report, str, set[tuple[str, int, str]], int]:
    """The report, what the program printed, what torch logged, and how many graphs torch itself counted."""
    torch._dynamo.reset()
    utils.counters.clear()
    printed = io.StringIO()
    with logged_places() as logged, contextlib.redirect_stdout(printed):
        report = run_program(ProgramToRun(script=str(SEVEN), arguments=("4", "4", "5", "5", "5")))
    return report, printed.getvalue(), logged, utils.counters["stats"]["unique_graphs"]


EXPECTED = {
    'print("scaling")': (("GB0059",), "resumed"),
    "if x.sum() > 0": (("GB0170",), "resumed"),
    "x.sum().item()": (("GB0124",), "resumed"),
    "time.time()": (("GB0007",), "resumed"),
    "torch._dynamo.graph_break()": (("GB0025",), "resumed"),
    "in a loop": (("GB0025", "GB7000"), "frame skipped"),
    "in a context": (("GB0025", "GB0066"), "frame skipped"),
}
NUMBERS = {"in a loop": 1, "in a context": 2}


def test_all_seven_sites_are_found_with_their_ids_and_what_a_nested_one_surfaced_as(seven: Any) -> None:
    report: Report = seven[0]
    found = {(site.line, site.gb_ids, site.kind) for site in report}
    expected = {
        (line_of(SEVEN, "torch._dynamo.graph_break()" if text in NUMBERS else text, NUMBERS.get(text, 0)), ids, kind)
        for text, (ids, kind) in EXPECTED.items()
    }
    assert found == expected
    assert len(report) == 7
    assert {site.file for site in report} == {str(SEVEN)}


def test_how_often_a_site_ran_is_as_often_as_the_program_itself_can_tell_also_after_a_recompile(seven: Any) -> None:
    report, printed, _, _ = seven
    by_function = {site.function: site for site in report}
    assert by_function["scale"].frequency.ran == printed.count("scaling") == 5
    assert {by_function[name].frequency.ran for name in ("choose", "shift", "stamp", "explicit")} == {5}
    assert {by_function[name].frequency.ran for name in ("repeated", "guarded")} == {None}
    assert by_function["repeated"].frequency.why_unknown == GIVEN_UP


def test_what_the_log_of_torch_names_is_what_the_sites_are(seven: Any) -> None:
    report, _, logged, _ = seven
    assert places(report) == logged


def test_as_many_graphs_are_counted_as_torch_counts(seven: Any) -> None:
    report, _, _, graphs = seven
    assert report.totals.graphs == graphs > 10
    assert report.totals.compilations > report.totals.frames > 10


def test_sites_have_their_line_the_ops_on_both_sides_and_the_recompiles_with_the_guard(seven: Any) -> None:
    report: Report = seven[0]
    site = next(site for site in report if site.function == "explicit")
    assert site.source == "torch._dynamo.graph_break()"
    assert (site.ops_before, site.ops_after) == (1, 1)
    assert [frame.function for frame in site.stack] == ["model", "explicit"]
    assert {one.guard for one in site.recompiles if one.function == "explicit"} == {
        "tensor 'x' size mismatch at index 0. expected 4, actual 5"
    }
    assert set(site.recompiles) <= set(report.recompiles)


def test_sites_cost_no_more_than_all_compilation(seven: Any) -> None:
    report: Report = seven[0]
    costs = [site.lost_seconds for site in report]
    assert 0 < sum(costs) <= report.totals.compile_seconds


def test_the_environment_is_that_of_an_evidence_file(seven: Any) -> None:
    environment = seven[0].environment
    assert environment["torch"] == torch.__version__.partition("+")[0]
    assert environment["device"] == ("cuda" if torch.cuda.is_available() else "cpu")  # seeding it uses it
