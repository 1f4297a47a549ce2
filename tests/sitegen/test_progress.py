from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from sitegen.progress import release_progress
from tests.conftest import ROOT

PROGRAM = """
from sitegen.progress import release_progress
with release_progress() as progress:
    for done in range(4):
        progress("2.15.0", done, 3)
"""


def test_where_stderr_is_no_terminal_there_is_one_line_per_release(capsys: pytest.CaptureFixture[str]) -> None:
    with release_progress() as progress:
        for done in range(4):
            progress("2.15.0", done, 3)
    assert capsys.readouterr().err == "torch 2.15.0: reading 3 source files\n"


def test_on_a_terminal_there_is_a_bar_on_stderr() -> None:
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=follower, check=True
    )
    os.close(follower)
    shown = os.read(leader, 65536).decode()
    os.close(leader)
    assert done.stdout == b""
    assert "torch 2.15.0" in shown
    assert "100%" in shown
