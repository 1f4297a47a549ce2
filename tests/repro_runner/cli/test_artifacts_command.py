"""`graphbreak artifacts`: what is listed, and that `clean` deletes runs and nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repro_runner.cli import main
from repro_runner.runs import RunFolder, list_runs
from repro_runner.runs.inventory import delete_runs
from tests.checkout import mounted_read_only
from tests.conftest import ROOT

GONE = 2**22 + 1
"""No process has it: the kernel's limit is lower."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("GRAPHBREAK_HOME", str(home))
    return home


def a_run(verb: str = "check", **manifest: Any) -> RunFolder:
    return RunFolder.create(verb, **{"pid": GONE, **manifest})


def an_old_run(home: Path, day: str) -> RunFolder:
    run = a_run()
    return RunFolder(run.path.rename(home / f"{day}-120000-check-abc123"))


def test_the_list_says_what_each_run_is_and_holds(capsys: pytest.CaptureFixture[str]) -> None:
    first = a_run(subject="model.py:make_model")
    first.write_text("breaks.json", "{}")
    first.write_text("graphs/0000/graph.json", "{}")
    first.write_bytes("graphs/0001/graph.json", b"x" * 40_000)
    second = a_run("guards", subject="other.py:make")
    assert main(["artifacts", "list"]) == 0
    head, *rows, total = capsys.readouterr().out.splitlines()
    assert head.split() == ["run", "verb", "model", "when", "size", "holds"]
    when = r"\d{4}-\d\d-\d\d \d\d:\d\d"
    assert re.fullmatch(rf"{first.id}   check   model\.py:make_model  {when}  39\.\d KiB  2 graphs, breaks", rows[0])
    assert re.fullmatch(rf"{second.id}  guards  other\.py:make       .*  nothing", rows[1])
    assert total.startswith("2 runs, 39.")


def test_the_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run(subject="model.py:make_model")
    run.write_text("guards.json", "{}")
    assert main(["artifacts", "list", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["schema"]) == ("runs", 1)
    (record,) = document["runs"]
    assert (record["id"], record["verb"], record["subject"]) == (run.id, "check", "model.py:make_model")
    assert record["holds"] == ["guards"]
    assert record["bytes"] == sum(path.stat().st_size for path in run.path.iterdir())


def test_list_and_clean_are_short_forms(capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run(subject="model.py:make_model")
    shown = [(main(command), capsys.readouterr().out) for command in (["list"], ["artifacts", "list"])]
    assert shown[0] == shown[1]
    assert json.loads((main(["list", "--json"]), capsys.readouterr().out)[1])["kind"] == "runs"
    assert main(["clean", "--yes", "--keep", "1"]) == 0
    assert list_runs() == [run]
    assert main(["clean", "--yes"]) == 0
    assert list_runs() == []


def test_no_runs_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["artifacts", "list"]) == 0
    assert "no runs in" in capsys.readouterr().out
    assert main(["artifacts", "clean"]) == 0
    assert "nothing to delete" in capsys.readouterr().out


def test_a_model_s_name_can_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    a_run(subject="\x1b[2Jmodel.py\nrun  fake")
    main(["artifacts", "list"])
    shown = capsys.readouterr().out
    assert "\\x1b[2Jmodel.py\\nrun  fake" in shown
    assert "\x1b" not in shown


def test_a_run_with_a_damaged_manifest_is_listed_and_never_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run()
    run.write_text("run.json", "{")
    main(["artifacts", "list"])
    assert f"{run.id}  check  (its manifest can't be read)" in capsys.readouterr().out
    assert main(["artifacts", "clean", "--yes"]) == 0
    assert run.path.is_dir()


def test_without_a_terminal_nothing_is_deleted_unless_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    run = a_run()
    assert main(["artifacts", "clean"]) == 2
    assert "1 run, " in (error := capsys.readouterr().err)
    assert "not deleted, since nobody can be asked here; add --yes" in error
    assert list_runs() == [run]
    assert main(["artifacts", "clean", "--yes"]) == 0
    assert capsys.readouterr().out == "deleted 1 run\n"
    assert list_runs() == []


@pytest.mark.parametrize(("typed", "left", "code"), [("y\n", 0, 0), ("n\n", 2, 1), ("\n", 2, 1)])
def test_on_a_terminal_it_asks(home: Path, typed: str, left: int, code: int) -> None:
    a_run()
    a_run()
    runs = list_runs()
    shown, returned = on_a_terminal(typed, "artifacts", "clean")
    assert f"  {runs[0].id}\r\n  {runs[1].id}\r\ndelete 2 runs, " in shown
    assert f"from {home}? [y/N]" in shown
    assert (len(list_runs()), returned) == (left, code)


def on_a_terminal(typed: str | signal.Signals, *arguments: str) -> tuple[str, int]:
    """Run the command; answer its question, or send it a signal instead."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "repro_runner", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(ours, 4096)
        if isinstance(typed, str):
            os.write(ours, typed.encode())
        while process.poll() is None:
            if isinstance(typed, signal.Signals):  # again, if it came just before the process began to wait
                process.send_signal(typed)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
        with contextlib.suppress(OSError):  # how a terminal says that the other side is gone
            while more := os.read(ours, 4096):
                shown += more
    os.close(ours)
    return shown.decode(), process.returncode


@pytest.mark.slow
def test_ctrl_c_at_the_question_deletes_nothing() -> None:
    run = a_run()
    shown, code = on_a_terminal(signal.SIGINT, "artifacts", "clean")
    assert code == 130
    assert "Traceback" not in shown
    assert list_runs() == [run]


def test_only_old_runs_are_deleted_on_request(home: Path) -> None:
    old, new = an_old_run(home, "20200101"), a_run()
    assert main(["artifacts", "clean", "--yes", "--older-than", "7d"]) == 0
    assert list_runs() == [new]
    assert not old.path.exists()
    assert main(["artifacts", "clean", "--yes", "--older-than", "9999w"]) == 0
    assert list_runs() == [new]


def test_the_newest_are_kept_on_request(home: Path) -> None:
    runs = [an_old_run(home, f"2020010{day}") for day in range(1, 6)]
    assert main(["artifacts", "clean", "--yes", "--keep", "2"]) == 0
    assert list_runs() == runs[3:]
    for more_than_there_are in ("3", "9"):
        assert main(["artifacts", "clean", "--yes", "--keep", more_than_there_are]) == 0
        assert list_runs() == runs[3:]


def test_named_runs_are_deleted_and_others_are_not(home: Path) -> None:
    runs = [an_old_run(home, f"2020010{day}") for day in range(1, 4)]
    assert main(["artifacts", "clean", "--yes", runs[0].id, "20200103"]) == 0
    assert list_runs() == [runs[1]]


@pytest.mark.parametrize(
    "name", ["..", "../outside", "/", "", ".", "2020*", "20200101-120000-check-abc123/../../outside"]
)
def test_a_name_that_is_no_id_deletes_nothing(
    home: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = an_old_run(home, "20200101")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "run.json").write_text(json.dumps(run.manifest()))
    before = tree(tmp_path)
    assert main(["artifacts", "clean", "--yes", run.id, name]) == 2
    assert "no such run; `graphbreak artifacts list` shows the runs there are" in capsys.readouterr().err
    assert tree(tmp_path) == before


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _a_link_in_place_of_a_run(home: Path, outside: Path) -> None:
    (home / "20200101-120000-check-abc123").symlink_to(outside)


def _links_inside_a_run(home: Path, outside: Path) -> None:
    run = an_old_run(home, "20200101")
    (run.path / "graphs").symlink_to(outside)
    (run.path / "deep").mkdir()
    (run.path / "deep" / "link").symlink_to(outside)
    (run.path / "breaks.json").symlink_to(outside / "precious.txt")


def _other_things_in_the_home(home: Path, _outside: Path) -> None:
    for name in ("src", "20200101-120000-check-abc123", "20200101-120000-check-abc124", "check"):
        (home / name).mkdir()
        (home / name / "precious.txt").write_text("precious")
    (home / "20200101-120000-check-abc124" / "run.json").write_text('{"kind": "somebody else\'s"}')
    (home / "check" / "run.json").write_text('{"kind": "run", "schema": 1}')
    (home / "20200101-120000-check-abc125").write_text("a file")


def _a_manifest_that_is_a_folder(home: Path, _outside: Path) -> None:
    (home / "20200101-120000-check-abc123" / "run.json").mkdir(parents=True)


@pytest.mark.parametrize(
    "arranged",
    [_a_link_in_place_of_a_run, _links_inside_a_run, _other_things_in_the_home, _a_manifest_that_is_a_folder],
)
def test_clean_never_leaves_its_own_folder(home: Path, tmp_path: Path, arranged: Callable[[Path, Path], None]) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious.txt").write_text("precious")
    (outside / "run.json").write_text('{"kind": "run", "schema": 1}')
    run = a_run()
    arranged(home, outside)
    kept = {
        name for name in tree(tmp_path) if not name.startswith((f"home/{run.id}", "home/20200101-120000-check-abc123/"))
    }
    assert main(["artifacts", "clean", "--yes"]) == 0
    assert kept - {"home/20200101-120000-check-abc123"} <= tree(tmp_path)
    assert (outside / "precious.txt").read_text() == "precious"
    assert not run.path.exists()


def test_a_home_that_is_a_link_is_cleaned_of_runs_alone(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_run()
    (home / "notes.txt").write_text("mine")
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "link"))
    assert main(["artifacts", "clean", "--yes"]) == 0
    assert tree(tmp_path) == {"home", "link", "home/.gitignore", "home/notes.txt"}


def test_the_root_folder_as_home_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name for path in Path("/").iterdir()}
    monkeypatch.setenv("GRAPHBREAK_HOME", "/")
    assert main(["artifacts", "clean", "--yes"]) == 0
    assert capsys.readouterr().out == "nothing to delete in /\n"
    assert {path.name for path in Path("/").iterdir()} == before


def test_a_run_whose_process_still_lives_is_left_alone_unless_it_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    run = RunFolder.create("check", pid=os.getppid())
    elsewhere = RunFolder.create("check", pid=os.getppid(), host=f"not-{platform.node()}")
    assert main(["artifacts", "clean", "--yes"]) == 0
    assert f"{run.id}: left alone, since the process that made it still runs" in capsys.readouterr().out
    assert list_runs() == [run]
    assert not elsewhere.path.exists()
    assert main(["artifacts", "clean", "--yes", run.id]) == 0
    assert list_runs() == []


@pytest.mark.parametrize("after", range(9))
def test_a_deletion_that_was_interrupted_can_be_taken_up_again(
    home: Path, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three runs with three files each: whatever file comes next, what is left of its run is still a run."""
    for day in range(1, 4):
        run = an_old_run(home, f"2020010{day}")
        run.write_text("breaks.json", "{}")
        run.write_text("guards.json", "{}")
    real, left = Path.unlink, iter(range(after))

    def interrupted(path: Path, missing_ok: bool = False) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        real(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", interrupted)
    assert main(["artifacts", "clean", "--yes"]) == 130
    monkeypatch.setattr(Path, "unlink", real)
    holding = {path.parent.name for path in home.glob("*/*")}
    assert {run.id for run in list_runs()} == holding
    assert len(holding) == 3 - after // 3
    assert main(["artifacts", "clean", "--yes"]) == 0
    assert list(home.glob("*/*")) == []


def test_what_the_disk_will_not_let_go_is_named_and_the_rest_is_deleted(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held, free = an_old_run(home, "20200101"), an_old_run(home, "20200102")
    held.write_text("breaks.json", "{}")
    with mounted_read_only(held.path):
        assert main(["artifacts", "clean", "--yes"]) == 2
        error = capsys.readouterr().err
        assert f"{held.path}/breaks.json: Read-only file system; its run could not be deleted\n" in error
        assert error.endswith("1 other runs were deleted\n")
        assert list_runs() == [held]
    assert not free.path.exists()


def test_a_run_that_somebody_else_deleted_meanwhile_is_no_failure() -> None:
    run, other = a_run(), a_run()
    assert delete_runs([run]) == [run]
    assert delete_runs([run, other]) == [other]


@pytest.mark.parametrize("age", ["7", "d", "-1d", "1.5d", "99999w", "١d"])
def test_an_age_that_is_none_is_refused_with_the_remedy(age: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["artifacts", "clean", f"--older-than={age}"])
    assert ended.value.code == 2
    assert "is not an age; write 30m, 12h, 7d or 2w" in capsys.readouterr().err
