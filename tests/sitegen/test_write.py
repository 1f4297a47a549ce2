from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from registry.errors import WriteFailed
from sitegen.write import Change, diff_changes, plan_changes, plan_removals, write_changes
from tests.checkout import (
    ROOT,
    case_blind_disk,
    generate_here,
    make_checkout,
    make_wordings,
    mounted_read_only,
    registry_json,
    reworded,
)


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


def test_a_file_that_has_to_go_goes_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("1\n")
    (tmp_path / "kept").write_text("2")
    changes = plan_removals(tmp_path, ["old"])
    assert list(diff_changes(changes, tmp_path)) == ["--- old\n", "+++ /dev/null\n", "@@ -1 +0,0 @@\n", "-1\n"]
    assert write_changes(changes) == ()
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_file_that_somebody_saved_since_is_not_deleted(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("ours")
    changes = plan_removals(tmp_path, ["old"])
    (tmp_path / "old").write_text("theirs")
    assert write_changes(changes) == changes
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old": "theirs"}


def test_a_file_that_another_run_deleted_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("ours")
    changes = plan_removals(tmp_path, ["old"])
    (tmp_path / "old").unlink()
    assert write_changes(changes) == ()


def test_nothing_is_deleted_or_written_when_a_folder_refuses(tmp_path: Path) -> None:
    (tmp_path / "generated").mkdir()
    (tmp_path / "generated" / "old").write_text("1")
    (tmp_path / "page").write_text("1")
    changes = (*planned(tmp_path, page="2"), *plan_removals(tmp_path, ["generated/old"]))
    with mounted_read_only(tmp_path / "generated"), pytest.raises(WriteFailed):
        write_changes(changes)
    assert {path.name: path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == {"old": "1", "page": "1"}


def test_a_link_is_deleted_and_what_it_leads_to_is_kept(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "folder").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "nowhere").symlink_to(tmp_path / "not there")
    assert write_changes(plan_removals(tmp_path, ["folder", "nowhere"])) == ()
    assert [path.name for path in tmp_path.iterdir()] == ["elsewhere"]


@pytest.mark.slow
def test_on_a_disk_that_ignores_case_a_generated_file_is_renamed_not_lost(tmp_path: Path) -> None:
    with case_blind_disk(tmp_path) as disk:
        checkout = make_checkout(disk / "checkout")
        folder = checkout / "docs" / "api" / "v1" / "gb"
        right = (folder / "GB0003.json").read_bytes()
        (folder / "GB0003.json").rename(folder / "x")
        (folder / "x").rename(folder / "gb0003.json")
        assert generate_here(checkout, "--source", "snapshot").code == 0
        assert "GB0003.json" in {path.name for path in folder.iterdir()}
        assert (folder / "GB0003.json").read_bytes() == right
        assert generate_here(checkout, "--check").code == 0


@pytest.mark.slow
@pytest.mark.prove
def test_two_runs_at_once_both_end_well(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "checkout")
    upstream = tmp_path / "new.json"
    upstream.write_bytes(registry_json(reworded(make_wordings())))
    command = [sys.executable, str(ROOT / "generate_site.py"), "--root", str(checkout), "--source", str(upstream)]
    runs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    assert [(run.communicate()[1], run.returncode) for run in runs] == [("", 0)] * 4
    assert generate_here(checkout, "--check", "--source", str(upstream)).code == 0
