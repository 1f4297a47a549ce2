"""Make a run that holds everything about a model: check, diff, guards, and a benchmark if asked for.

The model runs in a process of its own, step after step. A step that fails is told, and the next goes on; one that takes
the whole process with it is told too, and what is left runs in another. No torch here.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput, Problem
from repro_runner.bench.catalogue import BACKENDS
from repro_runner.bench.document import bench_document, describe_machine
from repro_runner.bench.suite import measure_rows, plan_rows
from repro_runner.report.contents import FAILURES
from repro_runner.runs import RunFolder

STEPS = {"check": "violations", "diff": "numerics", "guards": "guards"}
"""Verb -> the kind of document that says what came of it."""
_PACKAGES = Path(__file__).parents[2]
_WARMUP, _RUNS, _TIMEOUT_S = 3, 20, 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What the process is to do."""

    model: str
    device: str
    seed: int
    device_file: str | None
    steps: tuple[str, ...]
    run: str = ""
    """The folder of the run; empty if there is none yet."""


def make_run(job: Job, tell: Callable[[str], None]) -> RunFolder:
    """`tell` gets a line when a step begins, and one if it fails. InvalidInput if there is no such model, or if it
    fails without a compiler, too."""
    while job.steps:
        process = _Process(job)
        for message in process.messages():
            if "refused" in message:
                raise InvalidInput([Problem(*each) for each in message["refused"]])
            if "run" in message:
                job = replace(job, run=message["run"])
            if "begun" in message:
                tell(f"{message['begun']} …")
            if "ended" in message:
                job = replace(job, steps=job.steps[1:])
            if message.get("failed"):
                _fail(job, message["ended"], message["failed"], tell)
        if job.steps and not job.run:
            raise InvalidInput([Problem(job.model, f"the process that loads it {process.death}")])
        if job.steps:
            step, job = job.steps[0], replace(job, steps=job.steps[1:])
            _fail(job, step, f"the process {process.death}", tell)
    return RunFolder(Path(job.run))


def measure(job: Job, run: RunFolder, tell: Callable[[str], None]) -> None:
    """Add a benchmark of the model to the run, row by row, each in processes of its own."""
    environment = describe_machine(job.device)
    jobs = plan_rows([job.model], list(BACKENDS), size="full", device=job.device, warmup=_WARMUP, runs=_RUNS)
    rows: list[dict[str, Any]] = []
    for row in measure_rows(jobs, timeout=_TIMEOUT_S):
        rows.append(row)
        run.write_json("bench.json", bench_document(environment, rows))
        tell(f"bench {row['backend']}: {row['status']}")


def _fail(job: Job, step: str, why: str, tell: Callable[[str], None]) -> None:
    """Keep with the run why it has no document of this kind."""
    tell(f"{step} failed: {why}")
    run = RunFolder(Path(job.run))
    known = run.read_document(FAILURES, "failures")["failures"] if run.has(FAILURES) else {}
    run.write_json(FAILURES, {"kind": "failures", "schema": 1, "failures": {**known, STEPS[step]: why}})


class _Process:
    """Python with the model in it; it tells on its standard output what it does."""

    def __init__(self, job: Job) -> None:
        self._command = [sys.executable, "-m", "repro_runner.report.child", json.dumps(asdict(job))]
        self._code = 0

    def messages(self) -> Iterator[dict[str, Any]]:
        # The same package there as here, from wherever the command was called.
        paths = os.pathsep.join(filter(None, [str(_PACKAGES), os.environ.get("PYTHONPATH")]))
        with subprocess.Popen(
            self._command,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": paths},
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                yield json.loads(line)
        self._code = process.returncode

    @property
    def death(self) -> str:
        if self._code < 0:
            return f"was ended by {signal.Signals(-self._code).name}"
        return f"ended with exit code {self._code}"
