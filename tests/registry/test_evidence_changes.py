"""What changed from one evidence file to another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.datafile import DATA
from registry.evidence_changes import Turn, compare_evidence
from registry.evidence_file import Document, dump_document, new_document, put_run
from repro_runner.cli import main

HELD = {"fixed": {"holds": True}, "fixed_flag": {"holds": True}}
LESS = {"fixed": {"holds": True}, "fixed_flag": {"holds": False}}
OTHER = {"verdict": "other id", "ids": ["GB9493"], "ids_fullgraph": ["GB9493"]}


def evidence(torch: str, **runs: dict[str, Any]) -> Document:
    """A file with a run under eager per program."""
    environment = {"torch": torch, "python": "3.11", "device": "cpu"}
    document = new_document(environment)
    for program, run in runs.items():
        document = put_run(document, program, "sha of the program", "eager", run, environment)
    return document


def run(verdict: str, fixes: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"verdict": verdict, "fixes": fixes or {}}


@pytest.mark.parametrize(
    ("before", "after", "group", "is_worse"),
    [
        (run("stopped"), run("reproduced"), "started", True),
        (run("verified", HELD), run("stopped"), "stopped", False),
        (run("verified", HELD), OTHER, "other", False),
        (run("reproduced"), run("verified", HELD), "gained", False),
        (run("verified", HELD), run("reproduced"), "lost", True),
        (run("verified", HELD), run("verified", LESS), "lost", True),
        (run("verified", LESS), run("verified", HELD), "gained", False),
        (run("verified", HELD), run("failed"), "failed", True),
        (run("failed"), run("stopped"), "failed", False),
    ],
)
def test_a_change_has_its_group_and_is_for_the_worse_or_not(
    before: dict[str, Any], after: dict[str, Any], group: str, is_worse: bool
) -> None:
    (turn,) = compare_evidence(evidence("2.13.0", GB0001=before), evidence("2.15.0", GB0001=after))
    assert (turn.group, turn.is_worse) == (group, is_worse)


def test_what_did_not_change_or_was_not_run_or_is_another_program_says_nothing() -> None:
    same = evidence("2.13.0", GB0001=run("verified", HELD), GB0002=run("stopped"), GB0003=run("failed"))
    other = evidence("2.15.0", GB0001=run("verified", HELD), GB0003=run("not applicable"))
    assert compare_evidence(same, other) == []
    rewritten = evidence("2.15.0", GB0002=run("reproduced"))
    rewritten["records"]["GB0002"]["repro_sha256"] = "another"
    assert compare_evidence(same, rewritten) == []


def test_words_name_the_other_id_and_the_fixes() -> None:
    before = evidence("2.13.0", GB0001=run("verified", HELD), GB0002=run("verified", HELD))
    turns = compare_evidence(before, evidence("2.15.0", GB0001=OTHER, GB0002=run("verified", LESS)))
    assert turns == [
        Turn("GB0001", "eager", "other", "breaks, and a fix works", "gives GB9493"),
        Turn("GB0002", "eager", "lost", "working fixes: fixed, fixed_flag", "working fixes: fixed"),
    ]


def test_the_command_shows_them_and_fails_on_a_regression_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    documents = evidence("2.13.0", GB0001=run("stopped")), evidence("2.15.0", GB0001=run("reproduced"))
    for path, document in zip(files, documents, strict=True):
        Path(path).write_text(dump_document(document), "utf-8")
    assert main(["compare", *files]) == 0
    assert capsys.readouterr().out == (
        "torch 2.13.0, Python 3.11, cpu -> torch 2.15.0, Python 3.11, cpu\n\nStarted breaking: 1\n\n"
        "  GB0001 (eager): compiles without a break -> breaks\n"
    )
    assert main(["compare", *files, "--fail-on-new", "--format", "json"]) == 1
    (change,) = json.loads(capsys.readouterr().out)["changes"]
    assert change["group"] == "started"
    assert main(["compare", files[0], files[0], "--fail-on-new", "--format", "md"]) == 0
    assert capsys.readouterr().out.endswith("nothing changed\n")


def test_beside_evidence_the_other_file_alone_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, broken = tmp_path / "good.json", tmp_path / "broken.json"
    good.write_text(dump_document(evidence("2.13.0", GB0001=run("stopped"))), "utf-8")
    broken.write_text("{", "utf-8")
    captured = DATA / "captured" / "transformers-big-bird.json"
    for other, why in ((broken, "not JSON"), (captured, f"no evidence, as {good} is; two of a kind can be compared")):
        for files in ([good, other], [other, good]):
            assert main(["compare", *map(str, files)]) == 2
            (line,) = capsys.readouterr().err.splitlines()
            assert line.startswith(f"{other}: {why}")
