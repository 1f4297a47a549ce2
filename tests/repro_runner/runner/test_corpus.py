"""The corpus, run: every program still does what the committed evidence says it does."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from registry.evidence import BACKENDS
from registry.model import SEEDS
from registry.repros import read_repros
from repro_runner.cli import main
from repro_runner.process import Limits
from repro_runner.runner.machine import ReproRun, ThisMachine
from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.slow]

COMMITTED = ROOT / "registry" / "evidence" / "torch-2.13.0-cpu.json"


@pytest.mark.corpus
@pytest.mark.timeout(1800)
def test_a_quarter_of_the_programs_gives_the_committed_record_in_any_order() -> None:
    """By value, on the recorded seeds. `make prove` runs all, with gradients, fresh inputs and the other backends."""
    jobs = [
        ReproRun(program=name, source=repro.source, thorough=False)
        for name, repro in read_repros(ROOT / "registry" / "repros").items()
    ]
    jobs = random.Random(0).sample(jobs, len(jobs) // 4)
    # Longer than `graphbreak run` gives a program: one of them builds a C++ extension, and the machine may be busy.
    machine = ThisMachine("cpu", slots=2, limits=Limits(seconds=600))
    found = {ended.program: ended.record for ended in machine.run(jobs)}
    # Torch's own log, read beside while each program ran: the same places, as often.
    assert {name: run["miscounted"] for name, run in found.items() if "miscounted" in run} == {}
    committed = _runs(COMMITTED)
    expected = {job.program: _by_value(committed[job.program][1]) for job in jobs}
    changed = {name for name in expected.keys() | found.keys() if expected.get(name) != _by_value(found.get(name, {}))}
    assert {name: (expected.get(name), found.get(name)) for name in sorted(changed)} == {}


def _by_value(run: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says without gradients and other inputs."""
    fixes = {
        name: {**fix, "inputs": len(SEEDS), "holds": fix["holds"] or fix.get("gradient") == "excused"}
        for name, fix in run.get("fixes", {}).items()
    }
    verdict = "reproduced" if any(fix["holds"] for fix in fixes.values()) else run.get("verdict")
    closely = {"gradient", "tried", "never_reached"}
    without = {name: {key: fix[key] for key in fix.keys() - closely} for name, fix in fixes.items()}
    return {**run, "fixes": without, "verdict": verdict}


@pytest.mark.prove
@pytest.mark.timeout(1800)
def test_what_is_cached_does_not_change_what_inductor_gives() -> None:
    """Its cache of whole functions would: the second time, Dynamo traces the float of GB0021 once instead of twice."""
    source = read_repros(ROOT / "registry" / "repros")["GB0021"].source
    job = ReproRun(program="GB0021", source=source, backend="inductor")
    found = [ended.record for _ in range(2) for ended in ThisMachine("cpu", limits=Limits(seconds=600)).run([job])]
    _, committed = _runs(COMMITTED, "inductor")["GB0021"]
    assert found == [committed, committed]


@pytest.mark.prove
@pytest.mark.timeout(4 * 3600)  # Inductor compiles some thousand graphs, each for two seconds
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_program_gives_the_committed_record_under_every_backend(tmp_path: Path, backend: str) -> None:
    out = tmp_path / "evidence.json"
    main(["run", "--backend", backend, "--timeout", "600", "--out", str(out)])
    expected, found = _runs(COMMITTED, backend), _runs(out, backend)
    assert expected
    if differing := [gb_id for gb_id in expected if found.get(gb_id) != expected[gb_id]]:
        # While Inductor's cache is empty, Dynamo meets Inductor's own generators in the middle of some programs.
        main(["run", *differing, "--backend", backend, "--timeout", "600", "--out", str(out)])
        found = _runs(out, backend)
    assert {gb_id: found.get(gb_id) for gb_id in expected if found.get(gb_id) != expected[gb_id]} == {}
    assert found.keys() == expected.keys()


def test_no_committed_record_is_older_than_its_program() -> None:
    """By its hash, for every environment; `generate_site.py --check` says what to run."""
    programs = {gb_id: repro.sha256 for gb_id, repro in read_repros(ROOT / "registry" / "repros").items()}
    for path in sorted(COMMITTED.parent.glob("*.json")):
        records = json.loads(path.read_text("utf-8"))["records"]
        found = {gb_id: record["repro_sha256"] for gb_id, record in records.items()}
        assert found.items() <= programs.items(), path.name
        assert path != COMMITTED or found == programs  # elsewhere a program may wait for somebody to run it


def test_every_script_behind_copy_shows_its_break_or_runs_to_its_end() -> None:
    """Torch tells the break of one only at level INFO; the other shows what only releases before 2.12 break at."""
    failing = {
        (gb_id, name) for gb_id, (_, run) in _runs(COMMITTED, "inductor").items() for name in run.get("scripts", ())
    }
    assert failing == {("GB0003_loop", "broken"), ("GB0179_config", "broken")}


def _runs(path: Path, backend: str = "eager") -> dict[str, Any]:
    records = json.loads(path.read_text("utf-8"))["records"]
    return {gb_id: (record["repro_sha256"], record["runs"][backend]) for gb_id, record in records.items()}


def test_every_id_that_torch_can_emit_has_a_program_or_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--json", "--torch", "2.13.0"]) == 0
    counts = json.loads(capsys.readouterr().out)
    assert counts["live"] == 445
    assert counts["reproduced"] >= 350
    assert counts["verified"] >= 220
    assert counts["unexplained"] == 0
