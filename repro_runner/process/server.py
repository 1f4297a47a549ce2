"""The process that makes the children, and what a child does between its start and its end.

Jobs come as JSON lines on standard input, what became of them goes as JSON lines to standard output. Where it forks, it
must never run an operator with several threads: a child forked after that hangs.
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
from repro_runner.process.linux import adopt_orphans, die_with_parent
from repro_runner.process.pool import ROOT, Service
from repro_runner.process.supervise import RESULT, Job, Limits, Start, Supervisor

_FRESH = "import sys; sys.path[0] = sys.argv.pop(1); from repro_runner.process.server import be_fresh; be_fresh()"


def main() -> None:
    """The only argument is the service, as JSON. Serve until there are no more jobs."""
    die_with_parent()
    adopt_orphans()
    given = json.loads(sys.argv[1])
    service = Service(**{**given, "limits": Limits(**given["limits"])})
    forked = service.isolate == "fork"
    if forked and service.warm_up:
        try:
            _named(service.warm_up)(*service.warm_up_arguments)
        except Exception as error:
            print(json.dumps({"died": f"{type(error).__name__}: {error}"}), flush=True)
            raise
        gc.collect()
        gc.freeze()  # a collection in a child would write to, and so copy, every page that it shares with this process
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


def _serve(supervisor: Supervisor) -> None:
    """Take jobs as they come, until there are no more and the last has ended."""
    waiting: deque[Job] = deque()
    arriving = _Lines(sys.stdin.fileno())
    while waiting or supervisor.busy or not arriving.ended:
        waiting.extend(Job(**json.loads(line)) for line in arriving.now())
        while waiting and supervisor.has_room:
            job = waiting.popleft()
            supervisor.start(job)
            print(json.dumps({"started": job.key}), flush=True)
        for ended in supervisor.finished():
            print(json.dumps(ended.to_json()), flush=True)


class _Lines:
    """Lines of a pipe without waiting for them."""

    def __init__(self, pipe: int) -> None:
        os.set_blocking(pipe, False)
        self._pipe, self._rest, self.ended = pipe, b"", False

    def now(self) -> list[bytes]:
        """The whole lines that have arrived."""
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
    """Children that are copies of this process."""

    def fork(job: Job, folder: Path, streams: tuple[int, int]) -> int:
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            return pid
        code = 1
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.setsid()
            _settle(job, folder, streams)
            _work(job.task or task, job, folder)
            code = 0
        except BaseException:  # noqa: BLE001 - a forked child must never return into the parent's loop
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    return fork


def _starting(task: str) -> Start:
    """Children that import everything by themselves."""

    def start(job: Job, folder: Path, streams: tuple[int, int]) -> int:
        content = json.dumps({**asdict(job), "task": job.task or task})
        with subprocess.Popen(
            [sys.executable, "-c", _FRESH, str(ROOT), str(folder)],
            stdin=subprocess.PIPE,
            stdout=streams[0],
            stderr=streams[1],
            start_new_session=True,
        ) as process:
            assert process.stdin is not None
            process.stdin.write(content.encode())
            process.stdin.close()
            process.returncode = 0  # the supervisor waits for it, not subprocess
        return process.pid

    return start


def be_fresh() -> None:
    """A fresh child: the job comes on standard input, its folder is the argument."""
    folder = Path(sys.argv[1])
    job = Job(**json.loads(sys.stdin.read()))
    _settle(job, folder, (1, 2))
    _work(job.task, job, folder)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _settle(job: Job, folder: Path, streams: tuple[int, int]) -> None:
    """Nothing to read, output that goes to the supervisor; a folder of its own where the job names none."""
    die_with_parent()
    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if not job.folder:
        own = folder / "cwd"
        own.mkdir()
        os.chdir(own)
        os.environ["TMPDIR"] = str(own)


def _work(task: str, job: Job, folder: Path) -> None:
    """Do the task, and write its result whole or not at all."""
    result = _named(task)(dict(job.arguments), folder if job.folder else Path.cwd())
    write_whole(folder / RESULT, json.dumps(result).encode())


def _named(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found
