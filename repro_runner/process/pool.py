"""The client of the child processes: start the server that makes them, send it jobs, read how each job ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType

from repro_runner.process.supervise import Ended, Job, Limits

ROOT = Path(__file__).resolve().parents[2]
"""The folder that contains this project's packages."""

# Instead of `-m`, which would look for modules in the current folder first. That folder belongs to the user.
_START = "import sys; sys.path[0] = sys.argv.pop(1); from repro_runner.process.server import main; main()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What the children of a pool do, and how they are made."""

    task: str
    """`module:function`. The child calls it with (arguments, folder). It returns the result, a JSON object."""
    warm_up: str = ""
    """`module:function`. The server calls it once with `warm_up_arguments`, before it forks any child."""
    warm_up_arguments: tuple[str, ...] = ()
    isolate: str = "fork"
    """`fork`: children are forks of the server, after `warm_up`. `process`: each child is a new Python process."""
    second_opinion: bool = False
    """Whether a job whose forked child dies of a signal is run once more, in a new process."""
    streams: str = "joined"
    """`joined`: stdout and stderr as one text. `apart`: two texts. `inherited`: both go to the server's stderr."""
    slots: int = 1
    limits: Limits = field(default_factory=Limits)


def importable_environment() -> dict[str, str]:
    """This process's environment, with a PYTHONPATH that lets children import what this process can import."""
    paths = (entry or str(Path.cwd()) for entry in sys.path)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


own_folder: list[Path] = []
"""The folder of this process, if it is an isolated child: its parent removes it, however the child ends."""


def temporary_folder(prefix: str) -> tempfile.TemporaryDirectory[str]:
    """A temporary folder. In a child it is inside the child's own, and so it is removed even if the child is killed."""
    return tempfile.TemporaryDirectory(prefix=prefix, dir=own_folder[0] if own_folder else None)


class PoolDied(Exception):
    """The server process ended before the job did. The text gives the reason, if the server reported one."""


class Pool:
    """A server process that makes the children. Leaving the `with` block, also by Ctrl-C, ends every process.

    The server is a separate process that starts with one thread: a fork of a process with busy threads can hang.
    """

    def __init__(self, service: Service, environment: Mapping[str, str] | None = None) -> None:
        self._service = service
        self._environment = dict(os.environ if environment is None else environment)
        self._died_of = ""

    def __enter__(self) -> Pool:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(ROOT), json.dumps(asdict(self._service)), str(os.getpid())],
            env=self._environment | ({"TMPDIR": str(own_folder[0])} if own_folder else {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C reaches only the command, which then ends the server
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()
        with contextlib.suppress(BrokenPipeError), self._process:
            pass

    def end(self) -> None:
        """End every process. Another thread that waits for results gets no more."""
        self._process.terminate()

    def submit(self, job: Job) -> None:
        """Send a job. It starts when a slot is free."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(job)) + "\n")
        self._process.stdin.flush()

    def no_more(self) -> None:
        """Close the queue: the server ends after the last job."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def results(self, started: Callable[[str], None] = lambda _: None) -> Iterator[Ended]:
        """Yield each job as it ends, until the server ends. `started` gets the key of each job that starts."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            content = json.loads(line)
            if "started" in content:
                started(content["started"])
            elif "died" in content:
                self._died_of = content["died"]
            else:
                yield Ended.from_json(content)

    def run(self, job: Job) -> Ended:
        """Run one job and wait for its end. Raises PoolDied if the server has ended."""
        with contextlib.suppress(BrokenPipeError):
            self.submit(job)
        for ended in self.results():
            return ended
        code = self._process.wait()
        raise PoolDied(self._died_of or f"the process that is forked ended with exit code {code}")

    def run_all(self, jobs: Sequence[Job], started: Callable[[str], None] = lambda _: None) -> Iterator[Ended]:
        """Yield each job as it ends. If the server dies, the jobs that it did not finish are missing."""
        # A thread sends the jobs: they may not fit into the pipe, and the server reads none while it imports torch.
        sender = threading.Thread(target=self._send, args=(jobs,), daemon=True)
        sender.start()
        yield from self.results(started)

    def _send(self, jobs: Sequence[Job]) -> None:
        with contextlib.suppress(BrokenPipeError, ValueError):  # the server ended, or the pipe was closed
            for job in jobs:
                self.submit(job)
            self.no_more()
