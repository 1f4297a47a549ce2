"""verdicts.sh with recorded evidence and the real `graphbreak compare`. The stand-in for `gh` keeps issues in files."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from registry.evidence_file import dump_document, parse_document
from tests.conftest import ROOT
from tests.workflows.repository import Repository, git, write_program

pytestmark = pytest.mark.slow

SCRIPT = ROOT / ".github/scripts/verdicts.sh"
# The same in torch 2.13.0 and 2.15.0; compiles in 2.15.0; gives another id there.
PROGRAMS = ("GB0066", "GB0021", "GB0005")
TITLE = "Verdicts changed on the {} of torch"
NIGHTLY = "2.16.0.dev20261116"

# A stranger has opened an issue with our title, and it was the last one to be opened.
GH = r"""
cd "$CONTROL"
for word; do case "$word" in
GET | POST | PATCH) method=$word ;;
repos/*) echo "$method $word" >>asked ;;
title=*) title=${word#title=} ;;
body=@*) cp "${word#body=@}" body ;;
esac; done
[ ! -e refused ] || { echo 'HTTP 403' >&2; exit 1; }
case "$method" in
GET) echo '9 a-stranger Verdicts changed on the nightly of torch'; cat issues 2>/dev/null || true ;;
POST) echo "7 github-actions[bot] $title" >>issues ;;
esac
"""


def recorded(torch: str, like: str) -> str:
    """What was recorded of PROGRAMS under eager in the release `like`, under the name of another torch."""
    path = ROOT / "registry/evidence" / f"torch-{like}-cpu.json"
    document = parse_document(path.read_text("utf-8"), path.name)
    document["environment"]["torch"] = torch
    records = {name: document["records"][name] for name in PROGRAMS}
    document["records"] = {
        name: {**record, "runs": {"eager": record["runs"]["eager"]}} for name, record in records.items()
    }
    return dump_document(document)


@dataclass(frozen=True)
class World(Repository):
    """A checkout with the evidence of torch 2.13.0 and 2.15.0, and a folder for what ran on another."""

    def report(self, release: str | None, nightly: str | None) -> subprocess.CompletedProcess[str]:
        for kind, text in (("release", release), ("nightly", nightly)):
            (self.control / f"{kind}.json").unlink(missing_ok=True)
            if text is not None:
                self.set(f"{kind}.json", text)
        ours = {"GITHUB_REPOSITORY": "owner/name", "GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "42"}
        ours |= {"CONTROL": str(self.control), "GITHUB_OUTPUT": str(self.control / "output")}
        # `graphbreak` and `python` are those of this environment.
        ours["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return self.run([str(SCRIPT), str(self.control)], **ours)

    def lines(self, name: str) -> list[str]:
        path = self.control / name
        return path.read_text("utf-8").splitlines() if path.exists() else []


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    evidence = world.runner / "registry/evidence"
    evidence.mkdir(parents=True)
    git(world.runner, "init", "--quiet")
    for torch in ("2.13.0", "2.15.0"):
        (evidence / f"torch-{torch}-cpu.json").write_text(recorded(torch, like=torch), "utf-8")
    (evidence / "torch-2.15.1-cuda.json").write_text("another device", "utf-8")
    write_program(tmp_path / "bin/gh", GH)
    return world


def test_an_issue_lists_what_changed_and_the_next_run_writes_its_text_anew(world: World) -> None:
    same, other = recorded("2.15.0", like="2.15.0"), recorded(NIGHTLY, like="2.13.0")
    done = world.report(same, other)
    assert done.returncode == 0, done.stderr
    assert world.lines("asked") == ["GET repos/owner/name/issues", "POST repos/owner/name/issues"]
    assert world.lines("issues") == [f"7 github-actions[bot] {TITLE.format('nightly')}"]
    first, *changes, last = filter(None, world.lines("body"))
    assert "on the nightly of torch, compared with the committed evidence" in first
    assert changes == [
        f"torch 2.15.0, Python 3.11, cpu -> torch {NIGHTLY}, Python 3.11, cpu",
        "Started breaking: 1",
        "- GB0021 (eager): compiles without a break -> breaks, and a fix works",
        "Another id in one of the two: 1",
        "- GB0005 (eager): gives GB9493 -> breaks, and a fix works",
    ]
    assert "(https://github.com/owner/name/actions/runs/42)" in last
    (world.control / "body").unlink()
    assert world.report(same, other).returncode == 0
    assert world.lines("asked")[2:] == ["GET repos/owner/name/issues", "PATCH repos/owner/name/issues/7"]
    assert changes[2] in world.lines("body")
    assert world.lines("output") == ["evidence=false"] * 2, "nothing about the release is new"


@pytest.mark.parametrize(
    ("release", "before", "evidence"),
    [("2.15.0", "2.15.0", "false"), ("2.14.1", "2.13.0", "true"), ("2.16.0", "2.15.0", "true")],
)
def test_if_nothing_changed_github_is_not_asked_and_a_new_release_gets_its_evidence(
    world: World, release: str, before: str, evidence: str
) -> None:
    done = world.report(recorded(release, like=before), recorded(NIGHTLY, like="2.15.0"))
    assert done.returncode == 0, done.stderr
    assert f"torch {before}, Python 3.11, cpu -> torch {release}, " in done.stdout
    assert f"torch 2.15.0, Python 3.11, cpu -> torch {NIGHTLY}, " in done.stdout
    assert world.lines("output") == [f"evidence={evidence}"]
    assert world.lines("asked") == []


def test_a_torch_that_did_not_run_fails_the_job_and_the_other_is_reported(world: World) -> None:
    done = world.report(recorded("2.15.0", like="2.13.0"), None)
    assert done.returncode == 1
    assert done.stderr == "verdicts: the nightly of torch: no evidence arrived; see the log of its job\n"
    assert world.lines("issues") == [f"7 github-actions[bot] {TITLE.format('newest release')}"]
    assert world.lines("output") == ["evidence=true"]


def test_what_can_not_be_compared_fails_the_job_in_a_clear_line(world: World) -> None:
    (world.runner / "registry/evidence/torch-2.15.0-cpu.json").write_text("<<<<<<< HEAD", "utf-8")
    done = world.report("cut off", recorded(NIGHTLY, like="2.15.0"))
    assert done.returncode == 1
    release, *reasons, nightly = done.stderr.splitlines()
    assert release.startswith("verdicts: the newest release of torch: no evidence arrived")
    assert reasons[0].startswith("registry/evidence/torch-2.15.0-cpu.json: not JSON")
    assert nightly == "verdicts: the nightly of torch: can't be compared with registry/evidence/torch-2.15.0-cpu.json"
    assert world.lines("asked") == []


def test_an_issue_that_can_not_be_written_fails_the_job(world: World) -> None:
    world.set("refused")
    done = world.report(recorded("2.15.0", like="2.13.0"), recorded(NIGHTLY, like="2.15.0"))
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "HTTP 403",
        "verdicts: the newest release of torch: the issue could not be written",
    ]
    assert world.lines("output") == ["evidence=true"], "the evidence needs no issue"
