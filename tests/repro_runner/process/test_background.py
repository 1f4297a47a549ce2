"""A command beside this process: its lines while it runs, its end, and its end by force."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from repro_runner.process import Background, module_command
from tests.processes import eventually, processes_with


def start(folder: Path, program: str, **environment: str) -> Background:
    """A module of this text, which the command can import."""
    (folder / "beside.py").write_text(program)
    paths = {"PYTHONPATH": str(folder)}
    return Background(
        module_command("beside", "word"), folder=folder, environment={**os.environ, **paths, **environment}
    )


def test_its_lines_are_there_while_it_runs_and_its_code_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "go").write_text("")
    program = """\
import pathlib, sys, time
print("begun", sys.argv[1:], flush=True)
print("on the other stream \\udcff", file=sys.stderr, flush=True)
while pathlib.Path("go").exists():
    time.sleep(0.01)
sys.exit(3)
"""
    running = start(tmp_path, program)
    assert eventually(lambda: "on the other stream \\udcff" in running.lines), running.lines
    assert running.lines[0] == "begun ['word']"
    assert (running.running, running.code) == (True, None)
    (tmp_path / "go").unlink()
    assert eventually(lambda: running.code == 3)
    running.stop()  # nothing to do


def test_stopping_it_interrupts_it_and_kills_what_is_left_of_its_group(tmp_path: Path) -> None:
    value = secrets.token_hex(8)
    program = """\
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print("begun", flush=True)
try:
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    running = start(tmp_path, program, GRAPHBREAK_TEST_BESIDE=value)
    assert eventually(lambda: "begun" in running.lines), running.lines
    running.stop()
    assert running.lines == ["begun", "interrupted"]
    assert processes_with(f"GRAPHBREAK_TEST_BESIDE={value}") == []
