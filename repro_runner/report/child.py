"""The process in which a report's model runs: takes the steps of a job, and tells of each in a line of JSON.

python -m repro_runner.report.child '{"model": "model.py:make_model", …}'
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.errors import InvalidInput
from repro_runner.environment import describe_environment
from repro_runner.report.making import Job
from repro_runner.runs import RunFolder

if TYPE_CHECKING:
    from repro_runner.adapters import AcceleratorCapabilities
    from repro_runner.model_under_test import ModelUnderTest

Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """A model that runs, the device that it is meant for, and where to write what is found."""

    subject: ModelUnderTest
    capabilities: AcceleratorCapabilities | None
    device: str
    run: RunFolder


def main() -> int:
    """0 if every step ended, well or not; 2 if none could begin."""
    given = json.loads(sys.argv[1])
    job = Job(**{**given, "steps": tuple(given["steps"])})
    tell = _own_standard_output()
    try:
        examination = _begin(job)
    except InvalidInput as error:
        tell({"refused": [(problem.where, problem.message) for problem in error.problems]})
        return 2
    tell({"run": str(examination.run.path)})
    for step in job.steps:
        tell({"begun": step})
        tell({"ended": step, "failed": _failure(step, examination)})
    return 0


def _own_standard_output() -> Tell:
    """What a model prints goes to standard error from now on, where it is in nobody's way."""
    own = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(message: dict[str, Any]) -> None:
        print(json.dumps(message), file=own, flush=True)

    return tell


def _begin(job: Job) -> Examination:
    """InvalidInput if the capability file or the model is not valid; then no run is made."""
    from repro_runner.adapters.capability_file import read_capabilities
    from repro_runner.model_under_test import load_model

    capabilities = None if job.device_file is None else read_capabilities(Path(job.device_file))
    subject = load_model(job.model, device=job.device, seed=job.seed)
    subject.run_eagerly()
    run = RunFolder(Path(job.run)) if job.run else _new_run(job)
    return Examination(subject=subject, capabilities=capabilities, device=job.device, run=run)


def _new_run(job: Job) -> RunFolder:
    environment = describe_environment(job.device)
    return RunFolder.create(
        "report", subject=job.model, environment=environment, device_file=job.device_file, seed=job.seed
    )


def _failure(step: str, examination: Examination) -> str:
    """Take the step; return why it failed, in a line, or nothing."""
    from repro_runner.model_under_test.model import describe_error

    try:
        _STEPS[step](examination)
    except InvalidInput as error:
        return str(error)
    # A compiler that trips over the user's code may raise anything, and the other steps don't depend on it.
    except Exception as error:  # noqa: BLE001
        return describe_error(error)
    return ""


def _check(examined: Examination) -> None:
    from repro_runner.adapters.check import check_model, write_check

    write_check(examined.run, check_model(examined.subject, examined.capabilities))


def _diff(examined: Examination) -> None:
    from repro_runner.diff.harness import diff_model

    diff_model(examined.subject, pictures=True).write(examined.run)


def _guards(examined: Examination) -> None:
    from repro_runner.capture.breaks import breaks_document
    from repro_runner.guards import find_calls, inspect_model

    calls = find_calls(examined.subject.name, device=examined.device)
    report = inspect_model(examined.subject, calls or None)
    examined.run.write_json("guards.json", report.document())
    if not examined.run.has("breaks.json"):
        examined.run.write_json("breaks.json", breaks_document(report.breaks))


_STEPS: dict[str, Callable[[Examination], None]] = {"check": _check, "diff": _diff, "guards": _guards}


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
