"""Run a program in a process of its own: hold it to its time, keep what it prints within limits, say how it ended.

One process imports torch, and is forked for every run: that takes the second that a program's own work takes, not
five. It runs no operator itself, so that its forks may. No torch here.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import repro_runner

_KEPT_OUTPUT = 8 << 20
"""Bytes of a stream that are kept; of what comes after them a digest."""
_TO_START = 300.0
"""Seconds that the import of torch may take."""

_START = (
    "import sys; sys.path[0] = sys.argv[1]; from repro_runner.fix_report.trial_child import serve; serve(sys.argv[2])"
)
"""In place of `-m`, which would look for modules in the current folder first: that is the user's."""


@dataclass(slots=True)
class Said:
    """What came out of a stream."""

    start: bytearray = field(default_factory=bytearray)
    rest: str = ""
    """Of what is not kept, a digest."""

    def listen(self, stream: IO[bytes]) -> None:
        digest = hashlib.sha256()
        with stream:
            while piece := stream.read1(1 << 16):  # type: ignore[attr-defined]  # a BufferedReader has it
                room = _KEPT_OUTPUT - len(self.start)
                self.start += piece[:room]
                if len(piece) > room:
                    digest.update(piece[room:])
                    self.rest = digest.hexdigest()

    @property
    def text(self) -> str:
        return self.start.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the program; `result` is empty, and `failure` says why, where the process did not get to its end."""

    folder: Path
    result: Mapping[str, Any]
    failure: str
    stdout: Said
    stderr: Said
    seconds: float


class Processes:
    """Runs jobs, each in a process and a folder of its own, one at a time; what they start ends with them."""

    def __init__(self) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="graphbreak-trial-")
        self._server: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._runs = 0

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self._disconnect()
        self._home.cleanup()

    def run(self, job: Mapping[str, Any], *, timeout: float) -> Run:
        """Run the job (its `task` names what is done); its time begins when torch is imported."""
        folder = Path(self._home.name) / str(self._runs)
        self._runs += 1
        folder.mkdir()
        (folder / "job.json").write_text(json.dumps(dict(job)), "utf-8")
        stdout, stderr = Said(), Said()
        started = time.monotonic()
        try:
            with _listening(stdout) as out, _listening(stderr) as err:
                ended = self._forked(folder, (out, err), timeout)
        except (ConnectionError, TimeoutError):
            self._disconnect()
            ended = (
                f"could not be started: {_last_line(Path(self._home.name, 'server.txt').read_text('utf-8', 'replace'))}"
            )
        result = _read_result(folder) if not ended else {}
        if not result and not ended:
            ended = "ended before it was done"
        if ended.endswith("before it was done") and (last := _last_line(stderr.text)):
            ended = f"{ended}: {last}"
        seconds = time.monotonic() - started
        return Run(folder=folder, result=result, failure=ended, stdout=stdout, stderr=stderr, seconds=seconds)

    def _forked(self, folder: Path, streams: tuple[int, int], timeout: float) -> str:
        """Have a process forked for the folder's job, and wait for it: how it ended, if not well."""
        line = self._connected()
        line.settimeout(_TO_START)
        socket.send_fds(line, [f"{folder}\n".encode()], streams)
        pid = _number(line)
        try:
            line.settimeout(timeout)
            return _how_it_ended(_number(line))
        except TimeoutError:
            _kill_group(pid)
            line.settimeout(_TO_START)
            _number(line)
            return f"took longer than {timeout:g} s"
        finally:
            _kill_group(pid)  # also what it started, and left

    def _connected(self) -> socket.socket:
        if self._line is None:
            self._line, theirs = socket.socketpair()
            root = str(Path(repro_runner.__file__).parent.parent)
            with theirs, Path(self._home.name, "server.txt").open("wb") as said:
                self._server = subprocess.Popen(
                    [sys.executable, "-c", _START, root, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    env={**os.environ, "PYTHONHASHSEED": "0"},  # the order of sets is no difference
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # Ctrl-C is for us, and we end it
                )
        return self._line

    def _disconnect(self) -> None:
        if self._line is not None and self._server is not None:
            self._line.close()
            self._server.kill()
            self._server.wait()
        self._line = self._server = None


@contextlib.contextmanager
def _listening(said: Said) -> Iterator[int]:
    """The end of a pipe to write to, which is closed here when the block ends, and then read to its end."""
    reading, writing = os.pipe()
    listener = threading.Thread(target=said.listen, args=(os.fdopen(reading, "rb"),), daemon=True)
    listener.start()
    try:
        yield writing
    finally:
        os.close(writing)
        listener.join(5)  # a process that left the group may hold the stream open: what it says is nobody's


def _number(line: socket.socket) -> int:
    told = bytearray()
    while not told.endswith(b"\n"):
        piece = line.recv(1)
        if not piece:
            raise ConnectionResetError("the process that is forked is gone")
        told += piece
    return int(told)


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _read_result(folder: Path) -> dict[str, Any]:
    try:
        result: dict[str, Any] = json.loads((folder / "result.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return result


def _how_it_ended(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name} before it was done"
    return f"ended with exit code {code} before it was done" if code else ""


def _last_line(said: str) -> str:
    return said.strip().rpartition("\n")[2][-300:]
