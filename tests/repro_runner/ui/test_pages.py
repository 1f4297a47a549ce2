"""The pages of `graphbreak ui` on runs that were made by hand: what they show, and that hostile text stays text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from streamlit.testing.v1 import AppTest

from repro_runner.runs import RunFolder
from repro_runner.ui.serving import HERE
from tests.repro_runner.fixtures.sample_run import write_sample_run
from tests.repro_runner.ui.conftest import MARKUP, Open, shown
from tests.scheduling import sampled

pytestmark = pytest.mark.slow  # streamlit takes seconds to import

KNOWN = re.compile(r"run\?run=[\w-]+$|https://meta-pytorch\.github\.io/")
PARTS = ("Violations", "Breaks", "Numerics", "Smallest program", "Benchmark")


@pytest.fixture
def run(project: Path) -> RunFolder:
    return write_sample_run(project / ".graphbreak")


def test_the_app_begins_with_the_runs_and_shows_its_stylesheet(project: Path, run: RunFolder) -> None:
    app = AppTest.from_file(str(HERE / "app.py"), default_timeout=60).run()
    page = shown(app)
    assert f"1 run in {project / '.graphbreak'}" in page
    assert run.id in page
    assert "--paper: #fdfcfa" in page
    assert ".verdicts" in page


def test_without_runs_every_page_says_what_to_do(open_page: Open) -> None:
    assert "There are no runs here yet" in shown(open_page("runs_page"))
    assert "New run" in shown(open_page("run_page"))
    assert "This needs two runs" in shown(open_page("compare_page"))


def test_the_list_has_the_newest_first_with_marks_and_a_link(project: Path, run: RunFolder, open_page: Open) -> None:
    newer = RunFolder.create("check", home=project / ".graphbreak", subject="other.py:make")
    page = shown(open_page("runs_page"))
    assert page.index(newer.id) < page.index(run.id)
    assert f'href="run?run={run.id}"' in page
    assert "✗ Numerics" in page
    assert '<li class="breaks">' in page


@pytest.mark.parametrize(
    ("parameters", "there"),
    [
        ({"model": "OTHER"}, {"check"}),
        ({"verb": "report"}, {"report"}),
        ({"result": "failed"}, {"report"}),
        ({"result": "damaged"}, set()),
        ({"verb": "no such verb"}, {"check", "report"}),
    ],
)
def test_the_address_filters_the_list(
    project: Path, run: RunFolder, open_page: Open, parameters: dict[str, str], there: set[str]
) -> None:
    newer = RunFolder.create("check", home=project / ".graphbreak", subject="other.py:make")
    page = shown(open_page("runs_page", **parameters))
    assert {verb for verb, each in (("report", run), ("check", newer)) if each.id in page} == there
    assert ("No run fits these filters" in page) == (not there)


def test_a_damaged_run_is_listed_as_such_and_its_page_says_why(run: RunFolder, open_page: Open) -> None:
    (run.path / "run.json").write_text("{")
    page = shown(open_page("runs_page"))
    assert "✗ damaged" in page
    assert "not JSON" in page
    assert "is damaged: not JSON" in shown(open_page("run_page", run=run.id))


def test_a_run_that_is_not_there_is_named_and_the_newest_is_shown(run: RunFolder, open_page: Open) -> None:
    for asked in ("20200101-000000-check-000000", f"../{run.id}", "<b>x</b>"):
        page = shown(open_page("run_page", run=asked))
        assert "There is no run" in page
        assert "<b>" not in page
        assert run.id in page


def test_a_run_opens_with_its_verdicts_settings_and_report(run: RunFolder, open_page: Open) -> None:
    app = open_page("run_page", run=run.id)
    page = shown(app)
    assert "faulty differs from eager in 2 of 17 values" in page
    assert "npu.yml" in page
    (button,) = app.get("download_button")
    assert "Report as one file" in str(button.proto)


FOUND = {
    "Violations": ("shape-alignment", "dimension 1 is 3: not a multiple of 16", "transfers, 6.0 KiB"),
    "Breaks": ("GB0170", "if x.sum() &gt; 0:"),
    "Numerics": ("output.logits", "data:image/png;base64,", "The first op that differs"),
    "Graphs": ("aten.mm.default", "at most at once"),
    "Guards": ("x had 4 rows, now it has 5", "torch then gave up", "is not known"),
    "Smallest program": ("2 of 36 operations are left", "it fails in the same way"),
    "Benchmark": ("21.5 s", "it hung", "each", "small: 17 layers"),
}
"""Part -> what its page has to show."""


@pytest.mark.parametrize("part", sampled(FOUND, first=4))
def test_each_part_of_a_run_has_an_address(run: RunFolder, open_page: Open, part: str) -> None:
    page = shown(open_page("run_page", run=run.id, part=part))
    assert [words for words in FOUND[part] if words not in page] == []


def test_a_graph_is_drawn_with_its_text_beside_it(run: RunFolder, open_page: Open) -> None:
    app = open_page("run_page", run=run.id, part="Graphs")
    assert app.selectbox[1].value == "Graph 0, forward: 14 nodes"
    assert [each.value.splitlines()[0] for each in app.code] == ['def forward(self, x: "f32[4, 8]"):']
    (viewer,) = app.get("bidi_component")
    assert "data:image/svg+xml;base64," in str(viewer.proto)


def test_the_smallest_program_can_be_copied(run: RunFolder, open_page: Open) -> None:
    app = open_page("run_page", run=run.id, part="Smallest program")
    assert app.code[0].value.startswith('"""Two of 36 operations."""')


def test_recompiles_are_drawn_over_the_calls(run: RunFolder, open_page: Open) -> None:
    document = run.read_json("guards.json")
    run.write_json("guards.json", {**document, "compiled_in": {"0/0": 1, "0/1": 2}})
    app = open_page("run_page", run=run.id, part="Guards")
    (chart,) = app.get("vega_lite_chart")
    assert "x had 4 rows, now it has 12; recompile_limit (8)" in str(chart.proto)
    assert "is not known" not in shown(app)


def test_a_damaged_document_spoils_its_own_part_alone(run: RunFolder, open_page: Open) -> None:
    run.write_json("guards.json", {"kind": "guards", "schema": 1, "calls": 3})
    (run.path / "numerics.json").write_text("[]")
    assert "its document is damaged" in shown(open_page("run_page", run=run.id, part="Guards"))
    assert "not a document of kind" in shown(open_page("run_page", run=run.id, part="Numerics"))
    assert "shape-alignment" in shown(open_page("run_page", run=run.id, part="Violations"))


def test_two_runs_are_compared_by_verdict_setting_and_value(project: Path, run: RunFolder, open_page: Open) -> None:
    other = write_sample_run(project / ".graphbreak", lambda text: text.replace("aten.erf", "aten.tanh"))
    manifest = other.read_json("run.json")
    other.write_json("run.json", {**manifest, "seed": 7})
    numerics = other.read_json("numerics.json")
    numerics["leaves"][-2]["comparison"]["max_absolute_error"] = 0.5
    other.write_json("numerics.json", numerics)
    page = shown(open_page("compare_page", a=run.id, b=other.id))
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    assert "seed – 7" in text
    assert "output.logits 0.25 0.5 differs differs" in text
    assert "only in A 1 aten.erf.default the device has no aten.erf.default" in text
    assert "only in B 1 aten.tanh.default" in text
    assert "output.note" not in text
    assert page.count("data:image/png;base64,") == 4


def test_the_run_before_of_the_same_model_is_the_one_to_compare_with(project: Path, open_page: Open) -> None:
    home = project / ".graphbreak"
    first = RunFolder.create("check", home=home, subject="a.py:make")
    RunFolder.create("check", home=home, subject="b.py:make")
    last = RunFolder.create("check", home=home, subject="a.py:make")
    app = open_page("compare_page", b=last.id)
    assert [each.value for each in app.selectbox] == [first.id, last.id]


@pytest.mark.parametrize("part", sampled(("Guards", "Graphs", "Overview", *PARTS), first=2))
def test_hostile_text_of_a_run_stays_text(project: Path, open_page: Open, part: str) -> None:
    run = write_sample_run(project / ".graphbreak", lambda text: MARKUP + text)
    document = run.read_json("guards.json")
    run.write_json("guards.json", {**document, "compiled_in": {"0/0": 1, "0/1": 2}})
    app = open_page("run_page", run=run.id, part=part)
    assert_inert(app)


def test_hostile_text_stays_text_in_lists_and_comparisons(project: Path, open_page: Open) -> None:
    runs = [write_sample_run(project / ".graphbreak", lambda text: MARKUP + text) for _ in range(2)]
    runs[1].write_json("breaks.json", {"kind": "breaks", "schema": 1, "breaks": []})
    assert_inert(open_page("runs_page"))
    app = open_page("compare_page", a=runs[0].id, b=runs[1].id)
    assert "only in A" in shown(app)
    assert_inert(app)


def assert_inert(app: AppTest) -> None:
    """No tag is a script, no attribute an event, every address is ours, and nothing of the run is Markdown."""
    page = BeautifulSoup(shown(app), "html5lib")
    assert "owned" in page.get_text()
    assert page.find_all(["script", "iframe", "object", "form"]) == []
    assert [name for tag in page.find_all(True) for name in tag.attrs if name.startswith("on")] == []
    assert [image for image in page.find_all("img") if not str(image["src"]).startswith("data:image/")] == []
    assert [link["href"] for link in page.find_all("a", href=True) if not KNOWN.match(str(link["href"]))] == []
    assert not (app.markdown or app.error or app.warning or app.title)
