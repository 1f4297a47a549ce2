"""Keep children within their limits, and say of each how it ended. One thread, no torch: it is what forks."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from repro_runner.process.linux import children, memory_of_group
from repro_runner.runner.job import Job, Limits

_POLL_SECONDS = 0.02
_MEMORY_EVERY = 0.25

Start = Callable[[Job, Path, Path, int], int]
"""Start a child on (job, its folder, where its result goes, where its output goes); return its process id."""


@dataclass(slots=True, eq=False)
class _Child:
    job: Job
    pid: int
    home: Path
    output: int
    started: float = field(default_factory=time.monotonic)
    looked: float = 0.0
    said: bytearray = field(default_factory=bytearray)
    killed: str = ""
    first: dict[str, Any] | None = None
    """The record of the child that this one is the second opinion on."""

    @property
    def result(self) -> Path:
        return self.home / "result.json"


class Supervisor:
    """Runs up to `slots` children at a time.

    A child that dies of a signal gets a second one, begun by `start_again`: a fork inherits locks and drivers that a
    fresh process does not, and what is written of a program must be the program's own doing.
    """

    def __init__(self, start: Start, slots: int, limits: Limits, start_again: Start | None = None) -> None:
        self._start, self._slots, self._limits, self._start_again = start, slots, limits, start_again
        self._children: dict[int, _Child] = {}
        self._outputs = selectors.DefaultSelector()

    @property
    def has_room(self) -> bool:
        return len(self._children) < self._slots

    @property
    def busy(self) -> bool:
        return bool(self._children)

    def start(self, job: Job) -> None:
        """Start a child in a folder of its own."""
        self._begin(job, self._start)

    def _begin(self, job: Job, start: Start, first: dict[str, Any] | None = None) -> None:
        home = Path(tempfile.mkdtemp(prefix="graphbreak-"))
        (home / "cwd").mkdir()
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        pid = start(job, home / "cwd", home / "result.json", writing)
        child = _Child(job, pid, home, reading, first=first)
        os.close(writing)
        self._outputs.register(reading, selectors.EVENT_READ, child)
        self._children[child.pid] = child

    def finished(self) -> Iterator[tuple[Job, dict[str, Any], str]]:
        """Yield (job, record, output) of every child that has ended by now; wait a moment for it."""
        for key, _ in self._outputs.select(_POLL_SECONDS):
            self._listen(key.data)
        if not self._children:
            time.sleep(_POLL_SECONDS)
        for child in list(self._children.values()):
            self._hold_to_limits(child)
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if not pid:
                continue
            job, record, output = self._end(child, status)
            died = os.WIFSIGNALED(status) and not child.killed
            if died and child.first is None and self._start_again is not None:
                self._begin(job, self._start_again, first=record)
            else:
                yield job, record, output

    def stop(self) -> None:
        """Kill everything."""
        for child in list(self._children.values()):
            _kill_running(child)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child.pid, 0)
            shutil.rmtree(child.home, ignore_errors=True)
        self._children.clear()
        self._kill_strays()

    def _listen(self, child: _Child) -> None:
        """Keep the first part of what a child says; the rest is read and thrown away, so that it is not held up."""
        with contextlib.suppress(BlockingIOError):
            said = os.read(child.output, 1 << 16)
            child.said += said[: max(0, self._limits.output - len(child.said))]

    def _hold_to_limits(self, child: _Child) -> None:
        now = time.monotonic()
        if now - child.started > self._limits.seconds:
            child.killed = f"took longer than {self._limits.seconds:g} s"
        elif now - child.looked > _MEMORY_EVERY:
            child.looked = now
            if memory_of_group(child.pid) > self._limits.memory:
                child.killed = f"used more than {self._limits.memory / 1024**3:g} GiB of memory"
        if child.killed:
            _kill_running(child)

    def _end(self, child: _Child, status: int) -> tuple[Job, dict[str, Any], str]:
        del self._children[child.pid]
        _kill_group(child.pid)
        self._kill_strays()
        self._listen(child)
        self._outputs.unregister(child.output)
        os.close(child.output)
        record = _result(child, status)
        shutil.rmtree(child.home, ignore_errors=True)
        return child.job, record, child.said.decode("utf-8", "replace")

    def _kill_strays(self) -> None:
        """Processes that a child left behind in a group of their own have become ours."""
        for pid in children():
            if pid not in self._children:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def _kill_running(child: _Child) -> None:
    """Also one that was forked a moment ago and has no group of its own yet. It is not waited for, so its id is its."""
    _kill_group(child.pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGKILL)


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _result(child: _Child, status: int) -> dict[str, Any]:
    """The child's own record, if it got that far; else how it ended."""
    if child.killed and child.first is not None:
        return child.first  # a fresh process needs time of its own to start: what the first died of says more
    if child.killed:
        return {"verdict": "failed", "cause": child.killed}
    if os.WIFSIGNALED(status):
        return {"verdict": "failed", "cause": f"was killed by {signal.Signals(os.WTERMSIG(status)).name}"}
    try:
        record: dict[str, Any] = json.loads(child.result.read_bytes())
    except (OSError, ValueError):
        return {"verdict": "failed", "cause": f"ended with exit code {os.WEXITSTATUS(status)} before it was done"}
    return record
