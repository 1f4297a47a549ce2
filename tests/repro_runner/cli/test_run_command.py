"""`graphbreak run` and `merge`: what is written, when, and what is left when a run is cut off."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from repro_runner.cli import main
from tests.conftest import ROOT
from tests.processes import eventually, processes_with

pytestmark = [pytest.mark.torch, pytest.mark.slow]

IDS = ("GB0066", "GB0109", "GB0186", "GB0206")


def run(out: Path, *arguments: str) -> int:
    return main(["run", "--out", str(out), *arguments])


def records(out: Path) -> dict[str, Any]:
    return dict(json.loads(out.read_text("utf-8"))["records"])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evidence") / "whole.json"
    assert run(out, *IDS) == 0
    return out


def test_every_program_has_a_record_of_its_own_version(whole: Path) -> None:
    assert sorted(records(whole)) == list(IDS)
    assert {record["runs"]["eager"]["verdict"] for record in records(whole).values()} == {"verified"}
    text = whole.read_text("utf-8")
    assert str(ROOT) not in text
    assert "/tmp/" not in text


def test_a_fix_that_holds_for_what_ran_is_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A debugger's line is in GB0030: no input leads there, and its fix leaves it out."""
    assert run(tmp_path / "lines.json", "GB0030") == 3
    assert "fixed holds for what ran; never reached: 16: context.graph_break(" in capsys.readouterr().out
    assert run(tmp_path / "json.json", "GB0030", "GB0066", "--json") == 3
    levels = {one["program"]: one["levels"] for one in map(json.loads, capsys.readouterr().out.splitlines())}
    assert levels == {
        "GB0030": {"fixed": "holds for what ran", "fixed_print": "holds for what ran"},
        "GB0066": {"fixed": "holds", "fixed_differentiable": "holds, but changes gradients"},
    }


@pytest.mark.prove
def test_an_id_means_all_of_its_programs_and_a_name_one_of_them(tmp_path: Path) -> None:
    assert run(tmp_path / "all.json", "gb0116") == 0
    assert sorted(records(tmp_path / "all.json")) == ["GB0116", "GB0116_argument", "GB0116_dataclass"]
    assert run(tmp_path / "one.json", "GB0116_argument") == 0
    assert list(records(tmp_path / "one.json")) == ["GB0116_argument"]


@pytest.mark.prove
def test_another_order_and_fresh_processes_give_the_same_bytes(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "other.json"
    assert run(out, *reversed(IDS), "--isolate", "process", "--jobs", "2") == 0
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.prove
def test_shards_merge_into_the_file_of_one_run(whole: Path, tmp_path: Path) -> None:
    shards = [tmp_path / f"{part}.json" for part in (1, 2, 3)]
    for part, shard in enumerate(shards, 1):
        assert run(shard, *IDS, "--shard", f"{part}/3") == 0
    assert [len(records(shard)) for shard in shards] == [2, 1, 1]
    assert main(["merge", *map(str, reversed(shards)), "--out", str(tmp_path / "merged.json")]) == 0
    assert (tmp_path / "merged.json").read_bytes() == whole.read_bytes()


@pytest.mark.prove
def test_resume_runs_only_what_is_missing(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "half.json"
    document = json.loads(whole.read_text("utf-8"))
    del document["records"]["GB0186"]
    document["records"]["GB0066"]["repro_sha256"] = "another version"
    out.write_text(json.dumps(document), "utf-8")
    assert run(out, *IDS, "--resume") == 0
    assert sorted(line.split()[0] for line in capsys.readouterr().out.splitlines()) == ["GB0066", "GB0186"]
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["GB9999", "nonsense"], "GB9999: has no repro"),
        (["--shard", "3/2"], "not a part such as 2/8"),
        (["--shard", "x"], "not a part such as 2/8"),
        (["GB0066", "--out", "/nowhere/x.json"], "/nowhere/x.json: no such folder; make it, or name another file"),
        (["GB0066", "--device", "cuda"], "torch finds no GPU here; leave out `--device cuda`"),
    ],
)
def test_wrong_arguments_are_exit_2_and_write_nothing(
    arguments: list[str],
    says: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert run(tmp_path / "x.json", *arguments) == 2
    assert says in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_evidence_of_a_newer_schema_is_refused_and_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "x.json"
    out.write_text('{"kind": "evidence", "schema": 9, "environment": {}, "records": {}}', "utf-8")
    assert run(out, "GB0186") == 2
    assert "schema 9 is newer than 3; update the project" in capsys.readouterr().err
    assert '"schema": 9' in out.read_text("utf-8")


@pytest.mark.prove
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_cut_off_keeps_what_had_ended_and_leaves_no_process(
    blow: signal.Signals, whole: Path, tmp_path: Path
) -> None:
    out = tmp_path / "cut.json"
    command = [sys.executable, "-m", "repro_runner", "run", *IDS, "--jobs", "1", "--out", str(out)]
    mark = f"MOCK_MARK={tmp_path}"
    environment = {**os.environ, **dict([mark.split("=")])}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    first = process.stdout.readline().split()[0]
    assert processes_with(mark)
    process.send_signal(blow)
    process.communicate(timeout=60)
    assert process.returncode == (130 if blow is signal.SIGINT else -signal.SIGKILL)
    assert first in records(out)
    # The warm parent and its children die with the command, though not in the same instant.
    assert eventually(lambda: not processes_with(mark), 20)
    assert run(out, *IDS, "--resume") == 0
    assert out.read_bytes() == whole.read_bytes()


def test_status_prints_numbers_that_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["torch"] == "2.15.0", "the newest is the default"
    assert main(["status", "--json", "--torch", "2.13.0"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert (counts["torch"], counts["registered"], counts["live"]) == ("2.13.0", 517, 445)
    parts = ("reproduced", "elsewhere", "not_run", "unreached", "unexplained")
    assert sum(counts[part] for part in parts) == counts["live"]
    assert sum(map(len, counts["gradients"].values())) >= sum(counts["fixes"].values())
    assert "differs" not in counts["gradients"]
    assert counts["fails_with"]["inductor in training"] == ["GB0083.fixed_flag"]
    assert 0 < counts["verified"] <= counts["reproduced"]
    assert set(counts["fixes"]) == {"rewrite", "flag", "custom op"}
    assert sum(counts["fixes"].values()) >= counts["verified"]
