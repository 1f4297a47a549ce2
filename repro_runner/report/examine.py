"""Make a run that holds everything about a model: check, diff, guards, and a benchmark if asked for. No torch here.

Each step runs in a process of its own, within a time limit. A step that fails, kills its process or takes too long is
written down, and the next goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypedDict

from registry.errors import InvalidInput
from repro_runner.bench.catalogue import BACKENDS, Measurement
from repro_runner.bench.document import Row, bench_document, describe_machine
from repro_runner.bench.suite import measure_rows, plan_rows
from repro_runner.output.places import with_shown_places
from repro_runner.process import Limits
from repro_runner.process.isolated import ChildFailed, Isolation, isolation
from repro_runner.report.contents import keep_failures
from repro_runner.runs import RunFolder

STEPS = {"check": "violations", "diff": "numerics", "guards": "guards"}
"""Verb -> the kind of document with its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What is examined."""

    model: str
    device: str
    seed: int
    device_file: str | None = None
    backend: str = "inductor"
    """The one that `diff` compares with eager; `guards` and `bench` have it, too, if it is the user's own."""
    gradients: bool = False
    decompositions: str = ""


class StepArguments(TypedDict):
    """What a child is given: the examination, the folder of the run, and its step."""

    examination: dict[str, Any]
    run: str
    step: str


def examine(
    examination: Examination, limits: Limits, environment: Mapping[str, Any], say: Callable[[str], None]
) -> RunFolder:
    """Take every step, each in a child. `say` gets a line when a step begins, and one if it fails.

    InvalidInput if there is no such model, or if it fails without a compiler, too; then no run is made.
    """
    with isolation("repro_runner.report.steps") as children:
        _load(children, examination, limits)
        run = RunFolder.create(
            "report",
            subject=examination.model,
            environment=environment,
            device_file=examination.device_file,
            seed=examination.seed,
        )
        failures: dict[str, str] = {}
        try:
            for step, kind in STEPS.items():
                say(f"{step} …")
                if why := _take_step(children, examination, step, run, limits):
                    say(f"{step} failed: {with_shown_places(why)}")
                    failures[kind] = why
                    keep_failures(run, failures)
        except KeyboardInterrupt:
            run.delete_if_empty()
            raise
    return run


def measure(examination: Examination, limits: Limits, run: RunFolder, say: Callable[[str], None]) -> None:
    """Add a benchmark of the model to the run, row by row, each in processes of its own."""
    environment = describe_machine(examination.device)
    like = Measurement(
        device=examination.device, gradients=examination.gradients, decompositions=examination.decompositions
    )
    own = [examination.backend] if examination.backend not in BACKENDS else []
    planned = plan_rows([examination.model], [*BACKENDS, *own], like)
    rows: list[Row] = []
    for row in measure_rows(planned, limits):
        rows.append(row)
        run.write_json("bench.json", bench_document(environment, rows))
        say(f"bench {row['backend']}: {row['status']}")


def _load(children: Isolation, examination: Examination, limits: Limits) -> None:
    """InvalidInput if the capability file or the model is not valid."""
    try:
        children.run("repro_runner.report.steps:load", asdict(examination), limits)
    except ChildFailed as error:
        raise InvalidInput([error.problem(examination.model)]) from error


def _take_step(children: Isolation, examination: Examination, step: str, run: RunFolder, limits: Limits) -> str:
    """The reason in one line if it failed, else nothing."""
    arguments = StepArguments(examination=asdict(examination), run=str(run.path), step=step)
    try:
        children.run("repro_runner.report.steps:take_step", arguments, limits)
    except InvalidInput as error:
        return str(error)
    except ChildFailed as error:
        run.add_traceback(error.stack)
        return str(error)
    return ""
