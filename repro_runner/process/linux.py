"""Processes as Linux sees them: what Python has no function for. Elsewhere prctl and /proc do nothing."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def die_with_parent() -> None:
    """Be killed when the process that started this one ends, however it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ended, so that none escapes."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def kill_group(group: int) -> None:
    """End a process and all that it started, if any of it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def children() -> Iterator[int]:
    """The processes that this one is the parent of."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue  # it ended while we looked
        if parent == os.getpid():
            yield int(stat.parent.name)


def memory_of_group(group: int) -> int:
    """Resident bytes of a process group that are not shared with others."""
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[2]) == group:
                resident, shared = (stat.parent / "statm").read_text().split()[1:3]
                total += (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError, ValueError):
            continue
    return total
