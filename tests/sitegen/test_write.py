from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sitegen.write import Change, plan_changes, write_changes
from tests.checkout import ROOT, generate_here, make_checkout, make_wordings, registry_json, reworded


def planned(folder: Path, **texts: str) -> tuple[Change, ...]:
    return plan_changes(folder, texts)


def test_what_is_already_there_is_no_change(tmp_path: Path) -> None:
    write_changes(planned(tmp_path, a="1", b="2"))
    assert [change.path.name for change in planned(tmp_path, a="1", b="3")] == ["b"]


def test_a_file_that_somebody_saved_since_it_was_read_is_left_alone(tmp_path: Path) -> None:
    changes = planned(tmp_path, a="ours", b="ours")
    (tmp_path / "a").write_text("theirs")
    assert [change.path.name for change in write_changes(changes)] == ["a"]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "theirs", "b": "ours"}


def test_a_file_that_another_run_wrote_just_so_is_no_problem(tmp_path: Path) -> None:
    changes = planned(tmp_path, a="ours")
    (tmp_path / "a").write_text("ours")
    assert write_changes(changes) == ()


def test_files_that_belong_together_are_left_out_together(tmp_path: Path) -> None:
    together = planned(tmp_path, first="ours", second="ours")
    (tmp_path / "second").write_text("theirs")
    overtaken = write_changes((*together, *planned(tmp_path, page="ours")), together=together)
    assert overtaken == together
    assert {path.name for path in tmp_path.iterdir()} == {"second", "page"}


def test_the_mode_of_a_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    write_changes(planned(tmp_path, a="new"))
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.slow
def test_two_runs_at_once_both_end_well(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "checkout")
    upstream = tmp_path / "new.json"
    upstream.write_bytes(registry_json(reworded(make_wordings())))
    command = [sys.executable, str(ROOT / "generate_site.py"), "--root", str(checkout), "--source", str(upstream)]
    runs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [(run.communicate()[1], run.returncode) for run in runs] == [("", 0)] * 4
    assert generate_here(checkout, "--check", "--source", str(upstream)).code == 0
