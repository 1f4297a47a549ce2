"""Functions on Linux processes that Python does not have. On other systems, without prctl or /proc, they do nothing."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def die_with_parent(parent: int | None = None) -> None:
    """Let the kernel kill this process when its parent ends, even if the parent is killed.

    `parent` is the parent's process id: if it has ended already, this process ends here.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent has ended, so that they can be killed."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def kill_group(group: int) -> None:
    """Kill all processes of a process group that still run."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def children() -> Iterator[int]:
    """Yield the ids of this process's children."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue  # it ended while we looked
        if parent == os.getpid():
            yield int(stat.parent.name)


def memory_of_group(group: int) -> int:
    """Resident memory of a process group, and of all that its processes started, in bytes.

    Pages that are shared with other processes don't count.
    """
    parents: dict[int, int] = {}
    members = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, parent, own_group = stat.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue  # it ended while we looked
        parents[int(stat.parent.name)] = int(parent)
        if int(own_group) == group:
            members.add(int(stat.parent.name))
    while more := {pid for pid, parent in parents.items() if parent in members} - members:
        members |= more
    return sum(map(_own_memory, members))


def _own_memory(pid: int) -> int:
    try:
        resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[1:3]
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def free_memory() -> int | None:
    """Bytes that programs can still take, on this machine and in this container; None if the system does not say."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        return None
    if found is None:
        return None
    free = int(found[1]) * 1024
    group = Path("/sys/fs/cgroup")
    with contextlib.suppress(OSError, ValueError):  # no cgroup, or no limit: "max"
        free = min(free, int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    return free


def leave(code: int) -> NoReturn:
    """End this process here and now, with what it printed."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a user's code may have closed it
            stream.flush()
    os._exit(code)


def in_fork(work: Callable[[], bytes], *, may_die: bool = False) -> bytes:
    """What `work` returns in a fork of this process, which sees nothing of what it does there.

    If the fork is killed or exits early, this process ends in the same way, so that its supervisor sees the reason.
    With `may_die`, it goes on, and nothing is returned.
    """
    with tempfile.TemporaryFile() as file:  # no pipe: a process that outlives the fork would keep it open
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if not pid:
            code = 1
            try:
                file.write(work())
                file.flush()
                code = 0
            except BaseException:  # noqa: BLE001 - a fork must never return into the code of its parent
                traceback.print_exc()
            finally:
                leave(code)
        _, status = os.waitpid(pid, 0)
        if status and may_die:
            return b""
        if os.WIFSIGNALED(status):
            os.kill(os.getpid(), os.WTERMSIG(status))
        if status:
            os._exit(os.WEXITSTATUS(status))
        file.seek(0)
        return file.read()
