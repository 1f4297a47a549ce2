"""Runs on disk: ids that are never given twice, documents that are whole or not there, and what the disk refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from registry.errors import InvalidInput, WriteFailed
from repro_runner.runs import RunFolder, find_run, list_runs, runs_home
from tests.checkout import mounted_read_only, on_small_disk
from tests.conftest import ROOT


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("GRAPHBREAK_HOME", str(home))
    return home


def test_runs_are_kept_in_the_current_folder_unless_told_otherwise(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert runs_home() == home
    monkeypatch.setenv("GRAPHBREAK_HOME", "")
    monkeypatch.chdir(tmp_path)
    assert runs_home() == tmp_path / ".graphbreak"


def test_two_processes_that_make_two_hundred_runs_each_at_once_never_share_an_id(home: Path) -> None:
    program = (
        "from repro_runner.runs import RunFolder\n"
        "for number in range(200):\n"
        "    run = RunFolder.create('check', subject=str(number))\n"
        "    run.write_text('mine.txt', run.id)\n"
        "    print(run.id)\n"
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    told = [each.communicate(timeout=120)[0].split() for each in processes]
    assert [len(ids) for ids in told] == [200, 200]
    listed = [run.id for run in list_runs()]
    assert len(set(listed)) == 400
    assert sorted(listed) == sorted(told[0] + told[1])
    assert all((home / name / "mine.txt").read_text() == name for name in listed)


def test_the_newest_run_is_the_last_made_even_within_one_millisecond() -> None:
    made = [RunFolder.create(verb).id for verb in ("report", "check", "guards") * 5]
    assert [run.id for run in list_runs()] == made
    assert find_run().id == made[-1]


def test_a_manifest_says_what_ran_on_what_and_when() -> None:
    run = RunFolder.create("check", subject="model.py:make_model", environment={"torch": "2.13.0"})
    manifest = run.manifest()
    assert manifest["kind"] == "run"
    assert (manifest["verb"], manifest["subject"]) == ("check", "model.py:make_model")
    assert manifest["environment"] == {"torch": "2.13.0"}
    assert manifest["pid"] == os.getpid()
    assert manifest["started"][:10].replace("-", "") == run.id[:8]


def test_a_new_home_is_ignored_by_git_and_a_folder_with_other_things_in_it_is_left_as_it_is(
    home: Path, tmp_path: Path
) -> None:
    RunFolder.create("check")
    assert (home / ".gitignore").read_text() == "*\n"
    project = tmp_path / "project"
    project.mkdir()
    (project / "model.py").write_text("")
    RunFolder.create("check", home=project)
    assert not (project / ".gitignore").exists()


@pytest.mark.parametrize("text", ['"; \n<script>', "lone \ud800 surrogate", "é日本🙂"])
def test_any_text_can_be_written_and_read_back(text: str) -> None:
    run = RunFolder.create("check")
    run.write_json("one/two.json", {"text": text})
    assert run.read_json("one/two.json") == {"text": text}
    assert [path.name for path in (run.path / "one").iterdir()] == ["two.json"]


def test_a_run_is_found_by_id_by_its_beginning_and_by_path(monkeypatch: pytest.MonkeyPatch) -> None:
    run, other = RunFolder.create("check"), RunFolder.create("diff")
    assert find_run(run.id) == run
    assert find_run(run.id[:17]) == run
    assert find_run(str(run.path)) == run
    monkeypatch.chdir(run.path.parent)
    assert find_run(other.id) == other


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("20", "2 runs begin so; write more of the id"),
        ("nothing", "no such run"),
        ("../home", "no such run"),
        ("x" * 5000, "no such run"),
        ("", "2 runs begin so"),
    ],
)
def test_a_name_that_is_not_one_run_is_refused_with_the_remedy(name: str, told: str) -> None:
    RunFolder.create("check")
    RunFolder.create("diff")
    with pytest.raises(InvalidInput) as refused:
        find_run(name)
    assert told in str(refused.value)
    assert "`graphbreak artifacts list` shows the runs there are" in str(refused.value)


def test_where_there_are_no_runs_the_newest_is_refused_with_the_remedy(home: Path) -> None:
    with pytest.raises(InvalidInput, match="no runs yet; `graphbreak check` makes one"):
        find_run()
    home.write_text("a file, not a folder")
    assert list_runs() == []


def test_what_is_not_a_run_is_not_listed(home: Path) -> None:
    run = RunFolder.create("check")
    (home / "20260101-000000-check-abcdef").mkdir()
    (home / "20260101-000000-check-abcdea").symlink_to(run.path)
    (home / "notes").mkdir()
    (home / "notes" / "run.json").write_text("{}")
    assert list_runs() == [run]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a document of kind 'guards'"),
        ('{"kind": "breaks", "schema": 1}', "not a document of kind 'guards'"),
        ('{"kind": "guards", "schema": "one"}', "not a document of kind 'guards'"),
        ('{"kind": "guards", "schema": 2}', "written by a newer version (schema 2; this one reads up to 1)"),
    ],
)
def test_a_damaged_or_newer_document_is_refused_in_one_line(content: str, told: str) -> None:
    run = RunFolder.create("guards")
    run.write_text("guards.json", content)
    with pytest.raises(InvalidInput) as refused:
        run.read_document("guards.json", "guards")
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_document_is_refused_in_one_line() -> None:
    with pytest.raises(InvalidInput, match=r"guards\.json: No such file or directory; `graphbreak artifacts list`"):
        RunFolder.create("check").read_document("guards.json", "guards")


def test_a_run_whose_folder_vanished_says_so() -> None:
    run = RunFolder.create("check")
    (run.path / "run.json").unlink()
    run.path.rmdir()
    with pytest.raises(WriteFailed, match="the run's folder vanished while the run went on; run it again"):
        run.write_json("breaks.json", {})
    assert not run.path.exists()


def test_a_file_where_a_folder_should_be_is_one_clear_line() -> None:
    run = RunFolder.create("check")
    run.write_text("graphs", "not a folder")
    with pytest.raises(WriteFailed, match=r"graph\.json: .*; make room, or set GRAPHBREAK_HOME"):
        run.write_text("graphs/0000/graph.json", "{}")


def test_a_full_disk_is_one_clear_line_and_leaves_no_half_file(tmp_path: Path) -> None:
    home = tmp_path / "small"
    home.mkdir()
    with on_small_disk(home, kilobytes=64):
        run = RunFolder.create("check", home=home)
        run.write_json("breaks.json", {"kind": "breaks"})
        with pytest.raises(WriteFailed, match=r"big\.bin: No space left on device; make room, or set GRAPHBREAK_HOME"):
            run.write_bytes("big.bin", b"x" * 200_000)
        assert {path.name for path in run.path.iterdir()} == {"run.json", "breaks.json"}
        (home / "filler").write_bytes(b"x" * (64 * 1024 - 4 * 4096))
        with pytest.raises(WriteFailed, match="No space left on device"):
            for _ in range(64):
                RunFolder.create("check", home=home, subject="x" * 4096)
        assert all(run.manifest()["verb"] == "check" for run in list_runs(home))
        assert {path.name for path in home.iterdir()} == {".gitignore", "filler", *(run.id for run in list_runs(home))}


def test_a_disk_that_can_only_be_read_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "fixed").mkdir()
    with (
        mounted_read_only(tmp_path / "fixed"),
        pytest.raises(WriteFailed, match="Read-only file system; make room, or set GRAPHBREAK_HOME"),
    ):
        RunFolder.create("check", home=tmp_path / "fixed" / "home")


def test_documents_are_json_that_a_person_can_read() -> None:
    run = RunFolder.create("check")
    path = run.write_json("breaks.json", {"kind": "breaks", "schema": 1, "breaks": []})
    assert path.read_text() == '{\n  "kind": "breaks",\n  "schema": 1,\n  "breaks": []\n}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        run.write_json("numerics.json", {"error": float("nan")})
    assert json.loads(path.read_text()) == run.read_json("breaks.json")
