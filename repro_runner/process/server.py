"""The server process that makes the children, and the code that a child runs.

The server reads jobs as JSON lines from standard input, and writes how they ended as JSON lines to standard output. A
server that forks must never run a torch operator with several threads: a child that is forked later would hang.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

from registry.datafile import write_whole
from repro_runner.process.linux import adopt_orphans, die_with_parent, leave
from repro_runner.process.pool import ROOT, Service
from repro_runner.process.supervise import RESULT, Job, Limits, Start, Supervisor

_FRESH = "import sys; sys.path[0] = sys.argv.pop(1); from repro_runner.process.server import be_fresh; be_fresh()"


def main() -> None:
    """Serve until there are no more jobs. The arguments are the service, as JSON, and the id of the parent process."""
    die_with_parent(int(sys.argv[2]))
    adopt_orphans()
    given = json.loads(sys.argv[1])
    service = Service(**{**given, "limits": Limits(**given["limits"])})
    forked = service.isolate == "fork"
    if forked and service.warm_up:
        try:
            _import_function(service.warm_up)(*service.warm_up_arguments)
        except Exception as error:
            print(json.dumps({"died": f"{type(error).__name__}: {error}"}), flush=True)
            raise
        gc.collect()
        gc.freeze()  # a collection in a child would write to every page that it shares with the server, and so copy it
    supervisor = Supervisor(
        _forking(service.task) if forked else _starting(service.task),
        slots=service.slots,
        limits=service.limits,
        start_again=_starting(service.task) if forked and service.second_opinion else None,
        streams=service.streams,
    )

    def stop(_number: int, _frame: FrameType | None) -> None:
        supervisor.stop()
        os._exit(1)

    signal.signal(signal.SIGTERM, stop)
    _serve(supervisor)
    leave(0)  # at a normal end some libraries print complaints


def _serve(supervisor: Supervisor) -> None:
    """Run jobs as they arrive, until the input is closed and the last job has ended."""
    waiting: deque[Job] = deque()
    arriving = _Lines(sys.stdin.fileno())
    while waiting or supervisor.busy or not arriving.ended:
        waiting.extend(Job(**json.loads(line)) for line in arriving.take())
        while waiting and supervisor.has_room:
            job = waiting.popleft()
            supervisor.start(job)
            print(json.dumps({"started": job.key}), flush=True)
        for ended in supervisor.finished():
            print(json.dumps(ended.to_json()), flush=True)


class _Lines:
    """Reads lines from a pipe without blocking."""

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        self._pipe, self._rest, self.ended = pipe, b"", False

    def take(self) -> list[bytes]:
        """The complete lines that have arrived since the last call."""
        while not self.ended:
            try:
                arrived = os.read(self._pipe, 1 << 20)
            except BlockingIOError:
                break
            self._rest += arrived
            self.ended = not arrived
        *lines, self._rest = self._rest.split(b"\n")
        return lines


def _forking(task: str) -> Start:
    """A function that starts a child as a fork of this process."""

    def fork(job: Job, folder: Path, streams: tuple[int, int]) -> int:
        sys.stdout.flush()
        server = os.getpid()
        pid = os.fork()
        if pid:
            return pid
        code = 1
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.setsid()
            die_with_parent(server)
            _settle(job, folder, streams)
            _work(job.task or task, job, folder)
            code = 0
        except BaseException:  # noqa: BLE001 - a forked child must never return into the parent's loop
            traceback.print_exc()
        finally:
            leave(code)

    return fork


def _starting(task: str) -> Start:
    """A function that starts a child as a new Python process."""

    def start(job: Job, folder: Path, streams: tuple[int, int]) -> int:
        content = json.dumps({**asdict(job), "task": job.task or task})
        with subprocess.Popen(
            [sys.executable, "-c", _FRESH, str(ROOT), str(folder), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=streams[0],
            stderr=streams[1],
            start_new_session=True,
        ) as process:
            assert process.stdin is not None
            process.stdin.write(content.encode())
            process.stdin.close()
            process.returncode = 0  # so that subprocess does not wait for it: the supervisor does
        return process.pid

    return start


def be_fresh() -> None:
    """Run as a child in a new process. The job comes on standard input; the arguments are its folder and its parent."""
    die_with_parent(int(sys.argv[2]))
    folder = Path(sys.argv[1])
    job = Job(**json.loads(sys.stdin.read()))
    _settle(job, folder, (1, 2))
    _work(job.task, job, folder)
    leave(0)


def _settle(job: Job, folder: Path, streams: tuple[int, int]) -> None:
    """Set up the child: empty standard input, output to the supervisor, and a new folder if the job names none."""
    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if not job.folder:
        own = folder / "cwd"
        own.mkdir()
        os.chdir(own)
        os.environ["TMPDIR"] = str(own)


def _work(task: str, job: Job, folder: Path) -> None:
    """Call the task, and write its result completely or not at all."""
    result = _import_function(task)(dict(job.arguments), folder if job.folder else Path.cwd())
    write_whole(folder / RESULT, json.dumps(result).encode())


def _import_function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found
