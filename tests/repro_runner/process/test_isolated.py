"""What is told of a child that failed, and what is left of one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from repro_runner.process.isolated import ChildFailed, Doing
from tests.conftest import ROOT

_STACK = 'Current thread 0x0 (most recent call first):\n  File "/home/them/model.py", line 7 in forward\n'


@pytest.mark.parametrize(
    ("doing", "told"),
    [
        (Doing(), "the process was killed by SIGKILL while it started"),
        (Doing("making the model"), "/home/them/model.py:7: the process was killed by SIGKILL while making the model"),
    ],
    ids=["imports torch", "runs the user's code"],
)
def test_only_a_child_that_runs_the_users_code_has_a_line_of_it(doing: Doing, told: str) -> None:
    """torch imports numpy: nobody wants to read that the fault is there."""
    assert str(ChildFailed("was killed by SIGKILL", doing, _STACK)) == told


HOLD = """
from repro_runner.process import Limits
from repro_runner.process.isolated import isolation
with isolation() as children:
    children.run("tests.repro_runner.process.tasks:hold_folders", {}, Limits())
"""


def test_an_interrupt_leaves_none_of_the_folders_of_a_child_and_its_children(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        held = [Path(process.stderr.readline().strip()) for _ in range(2)]
        assert all(folder.is_dir() and folder.is_relative_to(tmp_path) for folder in held)
        process.send_signal(signal.SIGINT)
    assert list(tmp_path.iterdir()) == []
