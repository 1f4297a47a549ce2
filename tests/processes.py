"""Which processes of this machine carry a mark, for tests that nothing is left running; and waiting for something."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def processes_with(mark: str) -> list[int]:
    """The processes in whose environment NAME=value stands; what they start inherits it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue  # it ended, or is not ours
    return found


def eventually(holds: Callable[[], object], seconds: float = 60) -> bool:
    """Wait until something holds. False if it still does not after these seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.1)
    return False
