"""Run tasks of this package in children of one process that has torch imported. No torch here.

A child takes the second that its own work takes, not the five of the import. It works in the current folder: it runs
the user's program.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro_runner.process import Ended, Job, Limits, Output, Pool, PoolDied, Service

_SERVICE = Service(
    task="repro_runner.fix_report.tasks:try_program",
    warm_up="repro_runner.fix_report.tasks:warm_up",
    streams="apart",
    limits=Limits(memory=sys.maxsize, output=8 << 20),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a task ended."""

    folder: Path
    """What it left behind, until the Children end."""
    result: Mapping[str, Any]
    """Empty, and `failure` says why, where the task did not get to its end."""
    failure: str
    """To be put after a subject: `took longer than 5 s`."""
    stdout: Output
    stderr: Output
    seconds: float


class Children:
    """Runs one task at a time, each in a child and a folder of its own. Torch is imported when the first is run."""

    def __init__(self) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="graphbreak-trial-")
        self._open = ExitStack()
        self._pool: Pool | None = None
        self._runs = 0

    def __enter__(self) -> Children:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        self._home.cleanup()

    def run(self, task: str, arguments: Mapping[str, Any], *, seconds: float) -> Run:
        """Run the task `module:function` of this package; its time begins when torch is imported."""
        folder = Path(self._home.name) / str(self._runs)
        self._runs += 1
        folder.mkdir()
        job = Job(
            key=folder.name,
            task=f"repro_runner.fix_report.{task}",
            arguments=arguments,
            seconds=seconds,
            folder=str(folder),
        )
        if self._pool is None:
            environment = {**os.environ, "PYTHONHASHSEED": "0"}  # the order of sets is no difference
            self._pool = self._open.enter_context(Pool(_SERVICE, environment))
        try:
            ended = self._pool.run(job)
        except PoolDied as error:
            self._open.close()
            self._pool = None
            ended = Ended(key=folder.name, failure=f"could not be started: {error}")
        failure = ended.failure
        if failure.startswith(("was killed", "ended")):
            failure = f"{failure.removesuffix(' before it was done')} before it was done"
            failure = f"{failure}: {ended.stderr.last_line}" if ended.stderr.last_line else failure
        return Run(
            folder=folder,
            result=ended.result or {},
            failure=failure,
            stdout=ended.stdout,
            stderr=ended.stderr,
            seconds=ended.seconds,
        )
