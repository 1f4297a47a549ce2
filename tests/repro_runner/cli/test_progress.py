"""What `graphbreak run` shows: a bar with counts on a terminal, lines in a pipe, JSON if asked for."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = [pytest.mark.torch, pytest.mark.slow]

# One that is as it should be, and one that a second of time is not enough for.
COMMAND = [sys.executable, "-m", "repro_runner", "run", "GB0066", "GB0109", "--jobs", "1"]


def on_a_terminal(command: list[str]) -> tuple[int, str]:
    """Run a command with a terminal of 100 columns as its output."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
    os.close(ours)
    return process.returncode, shown.decode()


def test_a_terminal_gets_a_bar_that_counts(tmp_path: Path) -> None:
    code, shown = on_a_terminal([*COMMAND, "--out", str(tmp_path / "x.json")])
    assert code == 0
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    for counts in (
        "1 running, 0 passed, 0 failed, 1 remaining",
        "1 running, 1 passed, 0 failed, 0 remaining",
        "0 running, 2 passed, 0 failed, 0 remaining",
    ):
        assert counts in text
    assert "━" in text
    assert text.rstrip().endswith("2 verified; x.json")
    assert "GB0066 eager" not in text  # only what needs somebody's eye scrolls by


@pytest.mark.prove
def test_a_terminal_shows_what_failed_above_the_bar(tmp_path: Path) -> None:
    code, shown = on_a_terminal([*COMMAND, "--timeout", "0.01", "--out", str(tmp_path / "x.json")])
    assert code == 1
    assert "GB0066 eager: failed (took longer than 0.01 s)" in shown
    assert "0 running, 0 passed, 2 failed, 0 remaining" in shown


@pytest.mark.prove
@pytest.mark.parametrize("as_json", [False, True])
def test_a_pipe_gets_lines(tmp_path: Path, as_json: bool) -> None:
    command = [*COMMAND, "--out", str(tmp_path / "x.json"), *(["--json"] if as_json else [])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    if as_json:
        answers = [json.loads(line) for line in lines]
        found = [(one["gb_id"], one["backend"], one["verdict"], one["problem"]) for one in answers]
        assert found == [("GB0066", "eager", "verified", ""), ("GB0109", "eager", "verified", "")]
    else:
        assert lines == ["GB0066 eager: verified [1 left]", "GB0109 eager: verified [0 left]"]
    assert done.stderr.splitlines()[-1] == "2 verified; x.json"
