"""The page about what a break costs: it says what was measured, and no more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
from bs4 import BeautifulSoup, Tag

from registry.measurements import read_measurements
from registry.merge import merge_registry
from registry.model import Registry
from sitegen.break_cost import duration, render_cost
from sitegen.dashboard import dashboard_context
from sitegen.templating import template_environment
from tests.committed import committed_registry
from tests.conftest import ROOT
from tests.measurement_samples import EAGER_ROW, FAILED_ROW, ROW, Document, bench, break_cost, curve, point
from tests.samples import knowledge, revision
from tests.sitegen.test_api_outputs import schema

pytestmark = pytest.mark.slow


def registry_with(folder: Path, *documents: Document) -> Registry:
    names = {"bench": "models", "break_cost": "break-cost"}
    for document in documents:
        place = document["environment"]
        name = f"{names[document['kind']]}-{place['torch']}-{place['device']}.json"
        (folder / name).write_text(json.dumps(document), "utf-8")
    known = knowledge({"GB0001": [revision("a *break*")]}, measurements=read_measurements(folder))
    return merge_registry(known)


def rendered(registry: Registry) -> dict[str, str]:
    return render_cost(registry, template_environment(ROOT / "templates"))


def page_of(registry: Registry) -> BeautifulSoup:
    return BeautifulSoup(rendered(registry)["cost.md"], "html.parser")


def words(found: Tag | None) -> str:
    assert found is not None
    return " ".join(found.get_text(" ").split())


def two_blocks(**environment: object) -> Document:
    small = curve("small", [point(0, 1.0), point(4, 1.3), point(8, 1.5), point(16, 2.0)])
    large = curve("large", [point(0, 1.0, eager=1.1, unit=0.4), point(16, 1.0, eager=1.1, unit=0.4)])
    return break_cost([small, large], **environment)


def test_the_page_looks_as_it_did(tmp_path: Path, matches_snapshot: Callable[[str, str], None]) -> None:
    cuda = two_blocks(torch="2.11.0", device="cuda", device_name="NVIDIA H200")
    breaking = {**ROW, "backend": "mock", "breaks": 2, "break_ids": ["GB0001", "GBL-ABCDEF"], "violations": 3}
    registry = registry_with(tmp_path, two_blocks(), cuda, bench([EAGER_ROW, ROW, breaking, FAILED_ROW]))
    matches_snapshot("render/cost.md", rendered(registry)["cost.md"])


def test_the_lead_names_the_cost_on_every_machine(tmp_path: Path) -> None:
    cuda = two_blocks(torch="2.11.0", device="cuda", device_name="NVIDIA H200")
    registry = registry_with(tmp_path, two_blocks(), cuda)
    expected = "Each break adds about 250 µs to a call on a CPU (aarch64) and 250 µs on an NVIDIA H200"
    assert words(page_of(registry).select_one(".lead")).startswith(expected)
    assert [name for name, _ in dashboard_context(registry)["costs"]] == ["a CPU (aarch64)", "an NVIDIA H200"]


@pytest.mark.parametrize(
    ("points", "told"),
    [
        (
            [point(0, 1.0), point(8, 1.2), point(16, 1.4)],
            "Compiled and without a break, a call takes 0.67 times as long as in eager mode. "
            "With 16 breaks, it takes 1.40 times as long as with none. Each break adds 100 µs (90 – 110 µs).",
        ),
        (
            [point(0, 1.0), point(8, 1.4), point(16, 1.6)],
            "With 16 breaks, it takes 1.60 times as long as with none: all the gain of compiling is gone.",
        ),
        (
            [point(0, 1.0), point(1, 1.5), point(16, 2.0)],
            "With 16 breaks, it takes 2.00 times as long as with none. "
            "From 1 break on, all the gain of compiling is gone.",
        ),
        (
            [point(0, 1.0, eager=1.0), point(1, 1.0, eager=1.0)],
            "Compiled and without a break, this block is not faster than in eager mode. "
            "With 1 break, it takes 1.00 times as long as with none. "
            "The cost of a break is too small here to measure.",
        ),
    ],
    ids=["some gain left", "just none left", "none left for long", "no gain and noise"],
)
def test_the_sentences_say_what_the_numbers_say(tmp_path: Path, points: Sequence[Document], told: str) -> None:
    page = page_of(registry_with(tmp_path, break_cost([curve("small", points)])))
    assert told in words(page.select_one("figure + p"))


def test_noise_is_not_called_a_cost(tmp_path: Path) -> None:
    noise = curve("small", [point(0, 1.0), point(16, 1.0)])
    registry = registry_with(tmp_path, break_cost([noise]))
    assert page_of(registry).select_one(".lead") is None
    assert dashboard_context(registry)["costs"] == []


def test_the_chart_ends_with_the_numbers_of_the_tables_last_row(tmp_path: Path) -> None:
    page = page_of(registry_with(tmp_path, two_blocks()))
    for figure in page.select(".chart"):
        table = figure.find_next("table")
        assert isinstance(table, Tag)
        cells = [cell.contents[0] for cell in table.select("tbody tr:last-child td")[:2]]
        written = [text.get_text() for text in figure.find_all("text") if text.get("font-weight")]
        assert sorted(written) == sorted(f"{cell} ×" for cell in cells)


def test_a_row_that_failed_says_so_and_nothing_in_it_is_markup(tmp_path: Path) -> None:
    page = page_of(registry_with(tmp_path, bench()))
    (cell,) = page.select("td[colspan='9']")
    assert words(cell) == "Failed: was killed by SIGKILL: <b>"
    assert cell.find("b") is None


def test_a_break_of_a_model_leads_to_its_page_if_it_has_one(tmp_path: Path) -> None:
    breaking = {**ROW, "breaks": 2, "break_ids": ["GB0001", "GBL-ABCDEF"]}
    page = page_of(registry_with(tmp_path, bench([breaking])))
    assert [link["href"] for link in page.select(".models a")] == ["gb/gb0001.html"]


def test_what_was_measured_is_said_with_where(tmp_path: Path) -> None:
    page = page_of(registry_with(tmp_path, two_blocks(), bench()))
    curves, models = (words(found) for found in page.select("p.small"))
    assert curves == "torch 2.13.0, Python 3.11, 2 cores, 1 thread; CPU time, measured on 2026-01-02."
    assert "Latency is wall time. Memory is the rise of resident memory." in models
    assert "needs dimensions in multiples of 16" in models
    assert "177,853,440 parameters; 4 to a batch, each 128 tokens" in words(page.select_one("th[scope='rowgroup']"))


def test_where_nothing_was_measured_the_page_says_so() -> None:
    page = page_of(merge_registry(knowledge({"GB0001": [revision("t")]})))
    assert "Nothing has been measured yet." in words(page)
    assert page.select("table, svg, h2") == []


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(12.34, "12.3 s"), (0.25, "250 ms"), (0.0012345, "1.2 ms"), (0.00018579, "186 µs"), (-0.000002, "-2 µs")],
)
def test_a_duration_has_the_unit_that_fits_and_few_digits(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_the_file_for_programs_keeps_to_its_schema_and_holds_the_figures(tmp_path: Path) -> None:
    registry = registry_with(tmp_path, two_blocks(), bench())
    for one in (registry, committed_registry()):
        content = json.loads(rendered(one)["api/v1/measurements.json"])
        schema("measurements.json").validate(content)
    made = json.loads(rendered(registry)["api/v1/measurements.json"])
    assert made["break_costs"][0]["curves"][0]["points"][-1]["compiled"]["median"] == 2.0
    assert [row["cause"] for row in made["suites"][0]["rows"]] == ["", "", "was killed by SIGKILL: <b>"]
    schema("measurements.json", strict=False).validate({**made, "new_in_2027": 1})
    with pytest.raises(jsonschema.ValidationError, match="new_in_2027"):
        schema("measurements.json").validate({**made, "new_in_2027": 1})


def test_the_committed_page_has_a_curve_and_a_table_of_models_per_machine() -> None:
    page = page_of(committed_registry())
    measured = committed_registry().measurements
    assert len(page.select(".charts")) == len(measured.break_costs) > 0
    assert len(page.select("table.models")) == len(measured.suites) > 0
    assert re.fullmatch(r"Each break adds about [\d.]+ µs to a call on .+", words(page.select_one(".lead")))


def test_a_model_that_differs_from_eager_is_said_to_differ_by_how_much(tmp_path: Path) -> None:
    document = bench()
    inductor = next(row for row in document["rows"] if row["numerics"])
    inductor["numerics"] = {"passed": False, "verdict": "differs", "max_absolute_error": 0.00213}
    assert "no by up to 0.002" in words(page_of(registry_with(tmp_path, two_blocks(), document)))
