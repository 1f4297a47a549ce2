"""The command's side of the children: start the process that makes them, send jobs, take what became of them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType

from repro_runner.process.supervise import Ended, Job, Limits

ROOT = Path(__file__).resolve().parents[2]
"""Where this project's packages are."""

# In place of `-m`, which would look for modules in the current folder first: that is the user's.
_START = "import sys; sys.path[0] = sys.argv.pop(1); from repro_runner.process.server import main; main()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What the children of a pool do, and how they are made."""

    task: str
    """`module:function`, called in the child with (arguments, folder); what it returns is the result, as JSON."""
    warm_up: str = ""
    """`module:function`, called once in the process that is forked, with the arguments in `warm_up_arguments`."""
    warm_up_arguments: tuple[str, ...] = ()
    isolate: str = "fork"
    """`fork`: children are copies of a process in which `warm_up` was called. `process`: each starts by itself."""
    second_opinion: bool = False
    """A forked child that dies of a signal is tried once more, in a fresh process."""
    streams: str = "joined"
    """`joined`: both streams as one; `apart`; `inherited`: they go where this process's standard error goes."""
    slots: int = 1
    limits: Limits = field(default_factory=Limits)


def importable_environment() -> dict[str, str]:
    """This process's environment, for children that are to import whatever this process can."""
    paths = (entry or str(Path.cwd()) for entry in sys.path)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


class PoolDied(Exception):
    """The process that makes the children is gone; the text says why, as far as it told."""


class Pool:
    """The process that makes the children. Leaving the `with` block, also by Ctrl-C, ends every process.

    It is a process of its own, started with one thread: a fork of a process whose threads have worked can hang.
    """

    def __init__(self, service: Service, environment: Mapping[str, str] | None = None) -> None:
        self._service = service
        self._environment = dict(os.environ if environment is None else environment)
        self._died_of = ""

    def __enter__(self) -> Pool:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(ROOT), json.dumps(asdict(self._service))],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the command, which then ends us
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.terminate()
        with contextlib.suppress(BrokenPipeError), self._process:
            pass

    def submit(self, job: Job) -> None:
        """Send a job; it is run when there is room."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(job)) + "\n")
        self._process.stdin.flush()

    def no_more(self) -> None:
        """Say that no job follows: the process ends after the last."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def results(self, started: Callable[[str], None] = lambda _: None) -> Iterator[Ended]:
        """Yield jobs as they end, until the process does. `started` is called with the key of each job that starts."""
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
        """Run one job and wait for its end; PoolDied if there is nobody to run it."""
        with contextlib.suppress(BrokenPipeError):
            self.submit(job)
        for ended in self.results():
            return ended
        code = self._process.wait()
        raise PoolDied(self._died_of or f"the process that is forked ended with exit code {code}")

    def run_all(self, jobs: Sequence[Job], started: Callable[[str], None] = lambda _: None) -> Iterator[Ended]:
        """Yield jobs as they end; those that were not run when the process died are missing."""
        # The jobs may be more than a pipe holds, and the process reads none while it is still importing torch.
        sender = threading.Thread(target=self._send, args=(jobs,), daemon=True)
        sender.start()
        yield from self.results(started)

    def _send(self, jobs: Sequence[Job]) -> None:
        with contextlib.suppress(BrokenPipeError, ValueError):  # it died, or we left: what is not done stays not run
            for job in jobs:
                self.submit(job)
            self.no_more()
