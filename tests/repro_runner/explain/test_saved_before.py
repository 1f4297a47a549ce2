"""Files that an earlier version wrote: they are read, and what is written today has the same layout."""

from __future__ import annotations

import json
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

SAVED = FIXTURES / "saved_before"
CHANGES_WITH_THE_REGISTRY = ("answers", "categories")


def without_answers(document: Any) -> Any:
    """Less what the registry knows, which grows; fields keep their order."""
    if isinstance(document, dict):
        return {key: without_answers(one) for key, one in document.items() if key not in CHANGES_WITH_THE_REGISTRY}
    return [without_answers(one) for one in document] if isinstance(document, list) else document


def saved(name: str) -> Any:
    return json.loads((SAVED / name).read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "sites"),
    [
        ("explain.json", {("GB0124", "GB7000", 10): None, ("GB0170", 7): 2}),
        ("log.json", {("GB0170", 12): None, ("GB0302", 196): None}),
    ],
)
def test_a_run_that_an_earlier_version_saved_is_read(name: str, sites: dict[tuple[object, ...], int | None]) -> None:
    report = read_saved(SAVED / name)
    assert isinstance(report, Report)
    assert {(*site.gb_ids, site.line): site.ran for site in report} == sites


def test_an_explain_document_is_written_as_it_was() -> None:
    before = saved("explain.json")
    answers = Advisor(merge_registry(knowledge({})))
    now = json.loads(document_text(report_document(report_from_document(before), answers)))
    assert json.dumps(without_answers(now)) == json.dumps(without_answers(before))


def test_a_log_document_is_written_as_it_was(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FIXTURES / "recorded_logs")
    assert main(["log", "--format", "json", "chained.log"]) == 0
    now = json.loads(capsys.readouterr().out)
    assert json.dumps(without_answers(now)) == json.dumps(without_answers(saved("log.json")))


def test_a_comparison_is_written_as_it_was(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path("/"))
    assert main(["compare", "--format", "json", str(SAVED / "explain.json"), str(SAVED / "log.json")]) == 0
    assert capsys.readouterr().out == (SAVED / "comparison.json").read_text("utf-8")
