"""Make a run that holds everything about a model: check, diff, guards, and a benchmark if asked for. No torch here.

Each step runs in a process of its own, within a time limit. A step that fails, kills its process or takes too long is
written down, and the next goes on.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from registry.documents import Document, head
from registry.errors import InvalidInput, Problem
from repro_runner.bench.catalogue import BACKENDS
from repro_runner.bench.document import Row, bench_document, describe_machine
from repro_runner.bench.suite import measure_rows, plan_rows
from repro_runner.process import Ended, Job, Limits, Pool, PoolDied, Service, importable_environment
from repro_runner.report.contents import FAILURES
from repro_runner.runs import RunFolder

STEPS = {"check": "violations", "diff": "numerics", "guards": "guards"}
"""Verb -> the kind of document with its result."""
_WARMUP, _RUNS = 3, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What is examined, and how long each step of it may take."""

    model: str
    device: str
    seed: int
    device_file: str | None
    seconds: float


class StepArguments(TypedDict):
    """What a child is given: the examination, the folder of the run, and its step (empty: only load the model)."""

    examination: dict[str, Any]
    run: str
    step: str


class FailuresDocument(Document):
    """failures.json: kind of document -> why the run has none."""

    failures: dict[str, str]


def examine(examination: Examination, environment: Mapping[str, Any], say: Callable[[str], None]) -> RunFolder:
    """Take every step, each in a child. `say` gets a line when a step begins, and one if it fails.

    InvalidInput if there is no such model, or if it fails without a compiler, too; then no run is made.
    """
    service = Service(
        task="repro_runner.report.steps:take_step",
        warm_up="repro_runner.report.steps:warm_up",
        streams="inherited",
        limits=Limits(seconds=examination.seconds, memory=sys.maxsize),
    )
    with Pool(service, importable_environment()) as pool:
        _load(pool, examination)
        run = RunFolder.create(
            "report",
            subject=examination.model,
            environment=environment,
            device_file=examination.device_file,
            seed=examination.seed,
        )
        failures: dict[str, str] = {}
        for step, kind in STEPS.items():
            say(f"{step} …")
            ended = _step(pool, examination, step, str(run.path))
            if why := _why_it_failed(ended):
                say(f"{step} failed: {why}")
                failures[kind] = why
                document: FailuresDocument = {**head("failures"), "failures": failures}
                run.write_json(FAILURES, document)
    return run


def measure(examination: Examination, run: RunFolder, say: Callable[[str], None]) -> None:
    """Add a benchmark of the model to the run, row by row, each in processes of its own."""
    environment = describe_machine(examination.device)
    planned = plan_rows(
        [examination.model], list(BACKENDS), size="full", device=examination.device, warmup=_WARMUP, runs=_RUNS
    )
    rows: list[Row] = []
    for row in measure_rows(planned, timeout=examination.seconds):
        rows.append(row)
        run.write_json("bench.json", bench_document(environment, rows))
        say(f"bench {row['backend']}: {row['status']}")


def _load(pool: Pool, examination: Examination) -> None:
    """InvalidInput if the capability file or the model is not valid."""
    ended = _step(pool, examination, step="", run="")
    if ended.result is None:
        raise InvalidInput([Problem(examination.model, f"the process that loads it {_how_it_ended(ended)}")])
    if ended.result["refused"]:
        raise InvalidInput([Problem(*each) for each in ended.result["refused"]])


def _step(pool: Pool, examination: Examination, step: str, run: str) -> Ended:
    arguments = StepArguments(examination=asdict(examination), run=run, step=step)
    try:
        # This folder is for the result only: the child stays in the current one, from which the model's path starts.
        with tempfile.TemporaryDirectory(prefix="graphbreak-report-") as folder:
            return pool.run(Job(key=step, arguments=arguments, folder=folder))
    except PoolDied as error:
        return Ended(key=step, failure=f"could not be started: {error}")


def _why_it_failed(ended: Ended) -> str:
    """The reason in one line; empty if the step did not fail."""
    return f"the process {_how_it_ended(ended)}" if ended.result is None else str(ended.result["failed"])


def _how_it_ended(ended: Ended) -> str:
    more = "; --timeout gives it more" if ended.failure.startswith("took longer") else ""
    return f"{ended.failure}{more}"
