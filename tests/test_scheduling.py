"""The tests themselves: who shares what with whom, what starts first, and that Ctrl-C reaches their children."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.scheduling import sampled

pytestmark = pytest.mark.slow

SHARED = """
import os, time
from pathlib import Path
import pytest
from tests.scheduling import made_once

def note(word):
    with (Path(__file__).parent / "notes").open("a") as notes:
        print(word, os.environ["PYTEST_XDIST_WORKER"], file=notes)

@pytest.fixture(scope="session")
def built(tmp_path_factory):
    return made_once(tmp_path_factory, "built", lambda folder: note("built") or (folder / "a").touch())

@pytest.fixture(scope="module")
def costly():
    note("costly")

@pytest.mark.parametrize("number", range(4))
def test_free(number, built):
    assert (built / "a").exists()
    time.sleep(0.3)

@pytest.mark.parametrize("number", range(4))
def test_together(number, costly):
    note("together")

@pytest.mark.parametrize("at", ["a@b", "c"])
def test_long(at):
    note("long")
    time.sleep(1.1 if at == "c" else 1.3)
"""

INTERRUPTED = """
import signal, subprocess, sys

def test_ctrl_c():
    program = "import time; print(1, flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    child.stdout.readline()
    child.send_signal(signal.SIGINT)
    assert child.wait(30) == -signal.SIGINT
"""


def run_pytest(folder: Path, *options: str, before: tuple[str, ...] = ()) -> str:
    """What pytest prints of the tests in a folder, run with these tests' own plugins."""
    own = ["-q", "-p", "tests.conftest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    command = [*before, sys.executable, "-m", "pytest", *own, "-p", "no:cacheprovider", *options, str(folder)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("workers", sampled([(), ("-n", "1")]), ids=["in this process", "in a worker"])
def test_started_in_the_background_of_a_script_a_test_can_interrupt_its_children(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    (tmp_path / "test_it.py").write_text(INTERRUPTED, "utf-8")
    ignoring = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")
    assert "1 passed" in run_pytest(tmp_path, *workers, before=ignoring)


@pytest.mark.prove
def test_what_is_shared_is_made_once_and_the_longest_starts_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_it.py").write_text(SHARED, "utf-8")
    table = tmp_path / "durations.json"
    monkeypatch.setenv("GRAPHBREAK_DURATIONS", str(table))
    options = ("-n", "2", "--dist", "loadgroup", "--record-durations")
    assert "10 passed" in run_pytest(tmp_path, *options)
    notes = [line.split() for line in (tmp_path / "notes").read_text().splitlines()]
    assert [word for word, _ in notes].count("built") == 1
    assert [word for word, _ in notes].count("costly") == 1
    assert len({worker for word, worker in notes if word == "together"}) == 1
    assert list(json.loads(table.read_text())) == ["test_it.py::test_long[a@b]", "test_it.py::test_long[c]"]
    (tmp_path / "notes").unlink()
    assert "10 passed" in run_pytest(tmp_path, *options)
    first, second, *_ = (line.split() for line in (tmp_path / "notes").read_text().splitlines())
    assert [first[0], second[0]] == ["long", "long"]
    assert first[1] != second[1]
