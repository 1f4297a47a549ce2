"""Run tasks of this package in forks of one process that has imported torch. This module does not import torch.

A fork saves the five seconds of the import. It works in the current folder, because it runs the user's program.
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
    """The folder with its files, which exists until the Children end."""
    result: Mapping[str, Any]
    """What the task returned; empty if it did not return, and then `failure` says why."""
    failure: str
    """`took longer than 5 s`: a phrase that needs a subject before it."""
    stdout: Output
    stderr: Output
    seconds: float


class Children:
    """Runs one task at a time, each in its own child and folder. torch is imported for the first task."""

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
        """Run the task `module:function` of this package. The time limit starts after the import of torch."""
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
            environment = {**os.environ, "PYTHONHASHSEED": "0"}  # so that sets have the same order in every run
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
