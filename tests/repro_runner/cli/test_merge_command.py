"""`graphbreak merge --into`: shards are laid over the file of their torch, and the report says what changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from registry.evidence import BACKENDS
from registry.evidence_file import dump_document, new_document, parse_document, put_run
from registry.program_text import ProgramText
from repro_runner.cli import main

ENVIRONMENT = {"torch": "2.13.0", "python": "3.11", "device": "cpu", "date": "2026-01-05"}
PROGRAM = '"""A break."""\n\n\ndef broken(x):\n    return x\n\n\ndef fixed(x):\n    """When."""\n    return x\n'
SHA256 = ProgramText(PROGRAM).sha256


def write_evidence(path: Path, verdicts: Mapping[str, str], sha256: str = SHA256, **environment: str) -> Path:
    """A file with a run of each id on each backend."""
    header = {**ENVIRONMENT, **environment}
    document = new_document(header)
    for gb_id, verdict in verdicts.items():
        for backend in BACKENDS:
            document = put_run(document, gb_id, sha256, backend, {"verdict": verdict}, header)
    path.write_text(dump_document(document), "utf-8")
    return path


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """A folder for evidence beside two programs."""
    for gb_id in ("GB0001", "GB0002"):
        (tmp_path / "repros").mkdir(exist_ok=True)
        (tmp_path / "repros" / f"{gb_id}.py").write_text(PROGRAM)
    (tmp_path / "evidence").mkdir()
    return tmp_path / "evidence"


def merge(*arguments: str | Path) -> int:
    return main(["merge", *map(str, arguments)])


def test_a_release_that_has_no_file_yet_gets_one(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = write_evidence(evidence.parent / "1.json", {"GB0001": "verified"})
    second = write_evidence(evidence.parent / "2.json", {"GB0002": "stopped"})
    assert merge(first, second, "--into", evidence) == 0
    [written] = evidence.iterdir()
    assert written.name == "torch-2.13.0-cpu.json"
    whole = write_evidence(evidence.parent / "all.json", {"GB0001": "verified", "GB0002": "stopped"})
    assert written.read_bytes() == whole.read_bytes()
    assert capsys.readouterr().out.splitlines() == [
        "torch 2.13.0, Python 3.11, cpu",
        "before: nothing",
        "after:  3 stopped, 3 verified",
        "not run -> stopped: GB0002",
        "not run -> verified: GB0001",
    ]


def test_the_same_runs_a_week_later_leave_every_byte_and_say_so(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_evidence(evidence / "torch-2.13.0-cpu.json", {"GB0001": "verified", "GB0002": "verified"})
    before = file.read_bytes(), file.stat().st_mtime_ns
    shard = write_evidence(evidence.parent / "1.json", {"GB0001": "verified", "GB0002": "verified"}, date="2026-01-12")
    assert merge(shard, "--into", evidence) == 0
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert capsys.readouterr().out.splitlines()[-1] == "nothing changed"


def test_what_was_not_run_stays_and_is_named(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_evidence(evidence / "torch-2.13.0-cpu.json", {"GB0001": "verified", "GB0002": "verified"})
    shard = write_evidence(evidence.parent / "1.json", {"GB0001": "failed"})
    assert merge(shard, "--into", evidence) == 0
    after = parse_document(file.read_text("utf-8"), "x")["records"]
    assert {gb_id: record["runs"]["mock"]["verdict"] for gb_id, record in after.items()} == {
        "GB0001": "failed",
        "GB0002": "verified",
    }
    assert capsys.readouterr().out.splitlines()[1:] == [
        "before: 6 verified",
        "after:  3 failed, 3 verified",
        "verified -> failed: GB0001",
        "not in this run: GB0002",
    ]


def test_one_backend_is_named_where_the_others_stay(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_evidence(evidence / "torch-2.13.0-cpu.json", {"GB0001": "verified", "GB0002": "verified"})
    document = parse_document(file.read_text("utf-8"), "x")
    document = put_run(document, "GB0001", SHA256, "mock", {"verdict": "failed"}, ENVIRONMENT)
    document = put_run(document, "GB0002", SHA256, "mock", {"verdict": "verified", "graphs": 2}, ENVIRONMENT)
    shard = evidence.parent / "1.json"
    shard.write_text(dump_document(document), "utf-8")
    assert merge(shard, "--into", evidence) == 0
    assert capsys.readouterr().out.splitlines()[3:] == [
        "verified -> failed: GB0001:mock",
        "same verdict, other details: 1 run",
    ]


def test_evidence_that_waits_fills_in_for_a_shard_that_was_lost(evidence: Path) -> None:
    write_evidence(evidence / "torch-2.13.0-cpu.json", {"GB0001": "verified", "GB0002": "verified"})
    waiting = write_evidence(evidence.parent / "waiting.json", {"GB0001": "failed", "GB0002": "stopped"})
    shard = write_evidence(evidence.parent / "1.json", {"GB0001": "verified"})
    assert merge(shard, "--into", evidence, "--waiting", waiting) == 0
    whole = write_evidence(evidence.parent / "all.json", {"GB0001": "verified", "GB0002": "stopped"})
    assert (evidence / "torch-2.13.0-cpu.json").read_bytes() == whole.read_bytes()


def test_a_program_that_changed_since_it_ran_is_named_and_its_runs_left_out(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard = write_evidence(evidence.parent / "1.json", {"GB0001": "verified", "GB0002": "verified"}, "older")
    assert merge(shard, "--into", evidence) == 0
    assert list(evidence.iterdir()) == []
    assert capsys.readouterr().out.splitlines()[-1] == "not in this run: GB0001, GB0002"


def test_evidence_of_another_python_is_refused_and_nothing_written(
    evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_evidence(evidence / "torch-2.13.0-cpu.json", {"GB0001": "verified"}, python="3.12")
    before = file.read_bytes()
    shard = write_evidence(evidence.parent / "1.json", {"GB0001": "failed"})
    assert merge(shard, "--into", evidence) == 2
    assert "made in 2.13.0 3.11 cpu, but" in capsys.readouterr().err
    assert file.read_bytes() == before


@pytest.mark.parametrize("arguments", [(), ("--out", "x", "--into", "y"), ("--out", "x", "--waiting", "y")])
def test_there_is_one_target_and_waiting_goes_with_into(arguments: tuple[str, ...], tmp_path: Path) -> None:
    shard = write_evidence(tmp_path / "1.json", {"GB0001": "verified"})
    with pytest.raises(SystemExit, match="2"):
        merge(shard, *arguments)


@pytest.mark.parametrize("target", [("--out", "/nowhere/m.json"), ("--into", "/nowhere")])
def test_a_target_that_can_not_be_written_is_one_line(
    target: tuple[str, str], evidence: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shard = write_evidence(evidence.parent / "1.json", {"GB0001": "verified"})
    assert main(["merge", str(shard), *target]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("/nowhere/") and "name another file" in line
