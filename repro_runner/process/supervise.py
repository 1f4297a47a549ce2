"""Keep children within their limits, and report how each ended. This runs in the process that forks: no threads."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import selectors
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from repro_runner.process.linux import children, kill_group, memory_of_group

RESULT = "result.json"
"""The file with its result that a child writes into its folder as its last step."""
_POLL_SECONDS = 0.02
_MEMORY_EVERY = 0.25
_LAST_WORDS = 0.1
"""Seconds between the signal that asks a child where it is and the one that kills it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a child may use before it is killed, with all its processes."""

    seconds: float = 120.0
    memory: int = 6 * 1024**3
    output: int = 64 * 1024
    """Bytes that are kept of each stream. The rest is read and dropped, so that the child does not block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The work of one child."""

    key: str
    arguments: Mapping[str, Any]
    """The arguments of the task. They are sent as JSON."""
    seconds: float | None = None
    """A time limit for this job, instead of the limit for all jobs."""
    memory: int | None = None
    """A limit on its memory, likewise."""
    folder: str = ""
    """A folder for files that are kept. Without one, the child works in a temporary folder."""
    task: str = ""
    """A task for this job, instead of the service's task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """The output of a stream: its start, and a digest of the rest."""

    start: bytes = b""
    rest_sha256: str = ""

    @property
    def text(self) -> str:
        return self.start.decode("utf-8", "replace")

    @property
    def last_line(self) -> str:
        return self.text.strip().rpartition("\n")[2][-300:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a child ended."""

    key: str
    result: dict[str, Any] | None = None
    """What the task returned; None if it did not return, and then `failure` says why."""
    failure: str = ""
    """`took longer than 5 s`, `was killed by SIGSEGV`, …: a phrase that needs a subject before it."""
    stdout: Output = Output()
    """Both streams in order of arrival, unless the service keeps them apart."""
    stderr: Output = Output()
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        streams = {
            name: [stream.start.decode("utf-8", "surrogateescape"), stream.rest_sha256]
            for name, stream in (("stdout", self.stdout), ("stderr", self.stderr))
        }
        return {**asdict(self), **streams}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Ended:
        streams = {
            name: Output(start=content[name][0].encode("utf-8", "surrogateescape"), rest_sha256=content[name][1])
            for name in ("stdout", "stderr")
        }
        return cls(**{**content, **streams})


@dataclass(slots=True, eq=False)
class _Stream:
    """The reading end of a pipe from a child."""

    limit: int
    pipe: int = -1
    kept: bytearray = field(default_factory=bytearray)
    digest: Any = None

    def open(self) -> int:
        """Make the pipe, and return its writing end."""
        self.pipe, writing = os.pipe()
        os.set_blocking(self.pipe, False)
        return writing

    def read(self) -> bool:
        """Read what has arrived. Returns whether there may be more to read now."""
        try:
            piece = os.read(self.pipe, 1 << 16)
        except BlockingIOError:
            return False
        room = self.limit - len(self.kept)
        self.kept += piece[:room]
        if len(piece) > room:
            self.digest = self.digest or hashlib.sha256()
            self.digest.update(piece[room:])
        return bool(piece)

    def close(self) -> Output:
        while self.read():
            pass
        os.close(self.pipe)
        return Output(start=bytes(self.kept), rest_sha256=self.digest.hexdigest() if self.digest else "")


Start = Callable[[Job, Path, tuple[int, int]], int]
"""A function that starts a child for (job, its folder, descriptors of stdout and stderr) and returns its process id."""


@dataclass(slots=True, eq=False)
class _Child:
    job: Job
    pid: int
    folder: Path
    streams: tuple[_Stream, ...]
    started: float = field(default_factory=time.monotonic)
    looked: float = 0.0
    killed: str = ""
    warned: float = 0.0
    first: Ended | None = None
    """How the first child for this job ended, if this is the second one."""


class Supervisor:
    """Runs up to `slots` children at a time.

    If a child dies of a signal, `start_again` starts a second one for the same job. A fork inherits locks and drivers,
    a new process does not, and a report must not blame the program for them.
    """

    def __init__(
        self, start: Start, *, slots: int, limits: Limits, start_again: Start | None = None, streams: str = "joined"
    ) -> None:
        self._start, self._slots, self._limits, self._start_again = start, slots, limits, start_again
        self._streams = streams
        self._children: dict[int, _Child] = {}
        self._outputs = selectors.DefaultSelector()

    @property
    def has_room(self) -> bool:
        return len(self._children) < self._slots

    @property
    def busy(self) -> bool:
        return bool(self._children)

    def start(self, job: Job) -> None:
        """Start a child for this job."""
        self._begin(job, self._start)

    def _begin(self, job: Job, start: Start, first: Ended | None = None) -> None:
        folder = Path(job.folder or tempfile.mkdtemp(prefix="graphbreak-"))
        (folder / RESULT).unlink(missing_ok=True)  # an earlier job in the same folder may have written one
        number = {"joined": 1, "apart": 2, "inherited": 0}[self._streams]
        streams = tuple(_Stream(self._limits.output) for _ in range(number))
        writing = [stream.open() for stream in streams] or [2]
        child = _Child(job, start(job, folder, (writing[0], writing[-1])), folder, streams, first=first)
        for pipe, stream in zip(writing, streams, strict=False):
            os.close(pipe)
            self._outputs.register(stream.pipe, selectors.EVENT_READ, stream)
        self._children[child.pid] = child

    def finished(self) -> Iterator[Ended]:
        """Wait a moment for output, then yield how each child that has ended since then ended."""
        for key, _ in self._outputs.select(_POLL_SECONDS) if self._outputs.get_map() else ():
            if not key.data.read():
                self._outputs.unregister(key.data.pipe)  # the child closed it, so select() would always return it
        if not self._outputs.get_map():
            time.sleep(_POLL_SECONDS)
        for child in list(self._children.values()):
            self._enforce_limits(child)
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if not pid:
                continue
            ended = self._end(child, status)
            died = os.WIFSIGNALED(status) and not child.killed
            if died and child.first is None and self._start_again is not None:
                self._begin(child.job, self._start_again, first=ended)
            else:
                yield ended

    def stop(self) -> None:
        """Kill all children and what they started."""
        for child in list(self._children.values()):
            _kill_running(child)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child.pid, 0)
            self._remove_folder(child)
        self._children.clear()
        self._kill_strays()

    def _enforce_limits(self, child: _Child) -> None:
        now = time.monotonic()
        if child.killed:
            if now - child.warned > _LAST_WORDS:
                _kill_running(child)
            return
        seconds = self._limits.seconds if child.job.seconds is None else child.job.seconds
        memory = self._limits.memory if child.job.memory is None else child.job.memory
        if now - child.started > seconds:
            child.killed = f"took longer than {seconds:g} s"
        elif now - child.looked > _MEMORY_EVERY:
            child.looked = now
            if memory_of_group(child.pid) > memory:
                child.killed = f"used more than {memory / 1024**3:.3g} GiB of memory"
        if child.killed:
            child.warned = now
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGUSR1)  # a child that handles it says where it was; others end here

    def _end(self, child: _Child, status: int) -> Ended:
        seconds = time.monotonic() - child.started
        del self._children[child.pid]
        kill_group(child.pid)
        self._kill_strays()
        for stream in child.streams:
            with contextlib.suppress(KeyError):
                self._outputs.unregister(stream.pipe)
        outputs = [stream.close() for stream in child.streams] or [Output()]
        ended = _how_it_ended(child, status)
        self._remove_folder(child)
        stderr = outputs[1] if len(outputs) > 1 else Output()
        return replace(ended, stdout=outputs[0], stderr=stderr, seconds=seconds)

    def _remove_folder(self, child: _Child) -> None:
        if not child.job.folder:
            shutil.rmtree(child.folder, ignore_errors=True)

    def _kill_strays(self) -> None:
        """Kill processes that children left behind in other groups. This process has become their parent."""
        for pid in children():
            if pid not in self._children:
                with contextlib.suppress(ProcessLookupError, ChildProcessError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)


def _kill_running(child: _Child) -> None:
    """Kill a child and its group. A new fork may have no group yet. The id is not reused before waitpid()."""
    kill_group(child.pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child.pid, signal.SIGKILL)


def _how_it_ended(child: _Child, status: int) -> Ended:
    """How the child ended, with its result if it wrote one."""
    key = child.job.key
    if child.killed and child.first is not None:
        return child.first  # a new process needs time to start, so the first child's failure is the better reason
    if child.killed:
        return Ended(key=key, failure=child.killed)
    if os.WIFSIGNALED(status):
        return Ended(key=key, failure=f"was killed by {signal.Signals(os.WTERMSIG(status)).name}")
    try:
        return Ended(key=key, result=json.loads((child.folder / RESULT).read_bytes()))
    except (OSError, ValueError):
        return Ended(key=key, failure=f"ended with exit code {os.WEXITSTATUS(status)} before it was done")
