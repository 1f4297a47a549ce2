"""What is told of a child that failed."""

from __future__ import annotations

import pytest

from repro_runner.process.isolated import ChildFailed, Doing

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
