"""`graphbreak explain` before anything is run: which words are whose, what is refused, what needs no torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest

from registry.errors import InvalidInput
from repro_runner.cli import main as graphbreak
from repro_runner.explain.allowed import Entry, judge_sites
from repro_runner.explain.document import report_document, report_from_document
from repro_runner.explain.report import Report
from tests.conftest import ROOT
from tests.repro_runner.fixtures.written_report import (
    FOLDER,
    HOSTILE,
    SUGGESTIONS,
    failed_report,
    sample_answers,
    sample_report,
)


@pytest.mark.parametrize(
    "words",
    [
        ["gone.py", "--help"],
        ["gone.py", "--format", "nonsense", "-m", "x"],
        ["--format", "json", "gone.py", "--format", "md"],
        ["--summary", "--", "gone.py", "--", "-h"],
        ["--out", "x.html", "--format=html", "gone.py"],
    ],
)
def test_options_end_where_the_script_begins(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert graphbreak(["explain", *words]) == 2
    assert capsys.readouterr().err == "gone.py: no such script; name a Python file, or a module with -m\n"


@pytest.mark.parametrize("words", [[], ["--summary"], ["-m"], ["--"]])
def test_without_a_program_there_is_nothing_to_run(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        graphbreak(["explain", *words])
    assert left.value.code == 2
    assert "name a script, or -m and a module" in capsys.readouterr().err


def test_scripts_for_torch_xla_are_part_of_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert graphbreak(["explain", "--torch-xla", "gone.py"]) == 2
    told = "--torch-xla: is only for --report; leave it out, or name a folder with --report"
    assert told in capsys.readouterr().err.splitlines()


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "there").write_text("GB12\n", "utf-8")
    there, missing = tmp_path / "there", tmp_path / "no" / "file"
    options = ["--compile", "model", "--out", missing, "--save", tmp_path, "--allow", there, "--write-allow", there]
    assert graphbreak(["explain", *map(str, options), "--report", str(there), "gone.py"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "gone.py: no such script; name a Python file, or a module with -m",
        "--compile model: write a module and a function in it: --compile model:Net.forward",
        f"--out {missing}: there is no such folder; make it first, or name another",
        f"--save {tmp_path}: is a folder; name a file in it",
        f"--write-allow {there}: is there already; name another file, or delete it first",
        f"{there}:1: `GB12` is not an id such as GB0124; a file of that name is ./GB12",
        f"{there}: is a file; name a folder that is new or empty",
    ]


def test_a_language_model_needs_a_server_and_a_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert graphbreak(["explain", "--llm", "gone.py"]) == 2
    told = capsys.readouterr().err
    assert "--llm-model" in told
    assert "--llm-url" in told
    assert "gone.py: no such script" in told


def test_an_option_that_is_none_is_not_taken_for_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        graphbreak(["explain", "--sumary", "gone.py"])
    assert left.value.code == 2
    assert "unrecognized arguments: --sumary" in capsys.readouterr().err


def test_help_has_examples_and_imports_nothing_heavy() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "repro_runner", "explain", "--help"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in answer.stderr.splitlines()}
    assert loaded.isdisjoint({"torch", "jinja2", "rich", "requests", "openai", "numpy"})
    assert "graphbreak explain --fail-on-break --allow breaks.allow train.py" in answer.stdout


def validate(document: object) -> None:
    schema = json.loads((ROOT / "repro_runner/explain/explain.schema.json").read_bytes())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


def test_the_schema_is_printed_and_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        graphbreak(["explain", "--schema"])
    assert ended.value.code == 0
    jsonschema.Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    "report", [sample_report(), sample_report(lambda text: HOSTILE + text), failed_report(), Report()]
)
def test_every_report_satisfies_the_schema_and_comes_back_from_its_document(report: Report) -> None:
    entries = [Entry(origin="a:1", text="GB0124", gb_id="GB0124"), Entry(origin="a:2", text="b.py", pattern="b.py")]
    judgement = judge_sites(report, entries, folder=Path(FOLDER))
    for judged, suggestions in ((None, None), (judgement, SUGGESTIONS)):
        document = json.loads(json.dumps(report_document(report, sample_answers(), judged, suggestions)))
        validate(document)
        assert report_from_document(document) == report


def test_a_document_says_what_is_known_and_what_is_allowed() -> None:
    report = sample_report()
    judgement = judge_sites(report, [Entry(origin="a:1", text="GB0124", gb_id="GB0124")], folder=Path(FOLDER))
    document = report_document(report, sample_answers(), judgement)
    assert [site["allowed"] for site in document["sites"]] == [False, True, False, True, False]
    assert document["allow_list"] is not None and document["allow_list"]["new"] == 3
    assert [site["ran"] for site in document["sites"]] == [None, 480, 5, 7, 1]
    loop, item = document["sites"][0], document["sites"][1]["answers"][0]
    assert [answer["gb_id"] for answer in loop["answers"]] == ["GB0025", "GB7000"]
    assert [fix["name"] for fix in item["fixes"]] == ["fixed", "fixed_flag"]
    assert item["stopped_in"] == "2.15.0"
    assert document["categories"][0]["sites"] == 3


def test_an_allow_list_is_refused_before_the_program_runs(tmp_path: Path) -> None:
    """Nothing of the program is imported: it need not even be Python."""
    script = tmp_path / "train.py"
    script.write_text("this is not Python", "utf-8")
    from repro_runner.cli.explain import main

    with pytest.raises(InvalidInput, match="No such file"):
        main(["--allow", str(tmp_path / "gone"), str(script)])
