"""What an earlier version wrote is still read, and says the same: runs, saved reports, allow-lists, evidence, help.

`fixtures/written_before` was written by version 0.1.0 as of 2026-11-15, before its packages were put in order; only
paths and the name of the machine are changed, and sentences of the help. It is not to be written again.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.advice import Advisor
from registry.documents import document_text
from registry.merge import merge_registry
from repro_runner.cli import main
from repro_runner.explain import Report
from repro_runner.explain.document import read_saved, report_document, report_from_document
from tests.repro_runner.fixtures import FIXTURES
from tests.samples import knowledge

WRITTEN = FIXTURES / "written_before"
RUN = "20261115-201901-report-3bd433"
Ask = Callable[..., str]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command beside a copy of the files, and return what it prints."""
    shutil.copytree(WRITTEN, tmp_path / "written")
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "written" / "graphbreak"))
    monkeypatch.chdir(tmp_path / "written")

    def run(*words: str, code: int = 0) -> str:
        assert main(words) == code
        return capsys.readouterr().out

    return run


def document(name: str) -> Any:
    return json.loads((WRITTEN / "graphbreak" / RUN / name).read_text("utf-8"))


def test_runs_are_listed_with_what_they_hold(ask: Ask) -> None:
    listed = json.loads(ask("artifacts", "list", "--json"))["runs"]
    assert [(run["verb"], run["subject"], run["holds"]) for run in listed] == [
        (
            "report",
            "model.py:make_model",
            ["2 graphs", "violations", "op support", "breaks", "numerics", "guards"],
        ),
        ("minify", "model.py:make_model", ["minified"]),
        ("bench", "model.py:make_model", ["bench"]),
    ]


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("summary", "3 violations on 2 lines of the program"),
        ("constraints", "dimension"),
        ("graphs", "forward"),
        ("guards", "recompile"),
    ],
)
def test_a_run_is_analysed(ask: Ask, kind: str, line: str) -> None:
    assert line in ask("analyze", RUN, "--type", kind)


def test_a_report_joins_the_documents_as_they_are(ask: Ask, tmp_path: Path) -> None:
    ask("report", RUN, "--format", "json", "--out", str(tmp_path / "report.json"))
    joined = json.loads((tmp_path / "report.json").read_text("utf-8"))
    for kind in ("violations", "op_support", "breaks", "numerics", "guards"):
        assert joined[kind] == document(f"{kind}.json")
    assert joined["graphs"] == [document("graphs/0000/graph.json"), document("graphs/0001/graph.json")]
    assert joined["run"]["subject"] == "model.py:make_model"


@pytest.mark.parametrize("verb", ["report", "minify", "bench"])
def test_every_run_becomes_a_page_on_which_nothing_is_damaged(ask: Ask, tmp_path: Path, verb: str) -> None:
    run = next(path.name for path in (WRITTEN / "graphbreak").iterdir() if f"-{verb}-" in path.name)
    ask("report", run, "--out", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "model.py:make_model" in page
    assert "can't be read" not in page


def test_two_saved_runs_are_compared_as_before(ask: Ask) -> None:
    compared = json.loads(ask("compare", "saved.json", "log.json", "--format", "json"))
    assert compared == json.loads((WRITTEN / "comparison.json").read_text("utf-8"))


@pytest.mark.slow
def test_a_saved_run_is_added_to_the_registry(ask: Ask, tmp_path: Path) -> None:
    ask("add", "saved.json", "--name", "seven", "--into", str(tmp_path))
    added = json.loads((tmp_path / "seven.json").read_text("utf-8"))
    saved = json.loads((WRITTEN / "saved.json").read_text("utf-8"))
    assert added["totals"]["graphs"] == saved["totals"]["graphs"]
    assert {one["gb_id"] for one in added["breaks"]} == {gb_id for site in saved["sites"] for gb_id in site["gb_ids"]}


def test_evidence_is_merged_unchanged(ask: Ask, tmp_path: Path) -> None:
    ask("merge", "evidence.json", "--out", str(tmp_path / "merged.json"))
    assert (tmp_path / "merged.json").read_bytes() == (WRITTEN / "evidence.json").read_bytes()


CHOICES = re.compile(r"\{([\w,-]+)\}")


def choices_in(text: str) -> set[str]:
    return {choice for found in CHOICES.findall(text) for choice in found.split(",")}


@pytest.mark.parametrize("verb", sorted(path.stem for path in (WRITTEN / "help").iterdir()))
def test_the_help_of_a_verb_still_says_what_it_said(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Something may be added, also to a list of choices; usage and columns are laid out anew then."""
    before = WRITTEN / "help" / f"{verb}.txt"
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit):
        main(["--help"] if verb == "graphbreak" else [verb, "--help"])
    now = capsys.readouterr().out
    usage, _, rest = before.read_text("utf-8").partition("\n\n")
    lines = [CHOICES.sub("{}", " ".join(line.split())) for line in now.splitlines()]
    assert [word for word in CHOICES.sub("{}", usage).split() if word.strip("[]|") not in "\n".join(lines)] == []
    told = [CHOICES.sub("{}", " ".join(line.split())) for line in rest.splitlines()]
    assert [line for line in told if line not in lines] == []
    assert choices_in(before.read_text("utf-8")) <= choices_in(now)


BRANCHING = WRITTEN / "branching"
"""A program with a branch and a loop, its log, and the two compared."""
CHANGES_WITH_THE_REGISTRY = ("answers", "categories")
ADDED = (
    *("schema", "messages", "gone", "page", "reports", "unlisted", "compared", "kinds", "untraced", "follows"),
    *("cuda_graph_skips", "share", "with_fixes", "cost", "own_fix", "ranks", "processes", "differences", "hint"),
)
"""With schemas 2 to 5, and the number itself."""


def without_answers(document: Any) -> Any:
    """Less what the registry knows, which grows; fields keep their order."""
    if isinstance(document, dict):
        left_out = {*CHANGES_WITH_THE_REGISTRY, *ADDED}
        return {key: without_answers(one) for key, one in document.items() if key not in left_out}
    return [without_answers(one) for one in document] if isinstance(document, list) else document


def saved(name: str) -> Any:
    return json.loads((BRANCHING / name).read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "sites"),
    [
        ("explain.json", {("GB0124", "GB7000", 10): None, ("GB0170", 7): 2}),
        ("log.json", {("GB0170", 12): None, ("GB0302", 196): None}),
    ],
)
def test_a_run_that_an_earlier_version_saved_is_read(name: str, sites: dict[tuple[object, ...], int | None]) -> None:
    report = read_saved(BRANCHING / name)
    assert isinstance(report, Report)
    assert {(*site.gb_ids, site.line): site.ran for site in report} == sites


def test_an_explain_document_is_written_as_it_was() -> None:
    before = saved("explain.json")
    answers = Advisor(merge_registry(knowledge({})))
    now = json.loads(document_text(report_document(report_from_document(before), answers)))
    assert json.dumps(without_answers(now)) == json.dumps(without_answers(before))


@pytest.mark.slow
def test_a_log_document_is_written_as_it_was(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FIXTURES / "recorded_logs")
    assert main(["log", "--format", "json", "chained.log"]) == 0
    now = json.loads(capsys.readouterr().out)
    assert json.dumps(without_answers(now)) == json.dumps(without_answers(saved("log.json")))


def test_a_comparison_is_written_as_it_was(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path("/"))
    assert main(["compare", "--format", "json", str(BRANCHING / "explain.json"), str(BRANCHING / "log.json")]) == 0
    assert capsys.readouterr().out == (BRANCHING / "comparison.json").read_text("utf-8")
