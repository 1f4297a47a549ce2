"""The child's side of a report: load the model, and take one step with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput
from repro_runner.adapters import AcceleratorCapabilities
from repro_runner.adapters.capability_file import read_capabilities
from repro_runner.adapters.check import check_model, write_check
from repro_runner.capture.breaks import breaks_document
from repro_runner.diff.harness import diff_model
from repro_runner.guards import find_calls, inspect_model
from repro_runner.model_under_test import ModelUnderTest, load_model
from repro_runner.model_under_test.model import describe_error
from repro_runner.report.examine import Examination
from repro_runner.runs import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoadedModel:
    """A model that runs, the device that it is meant for, and where to write what is found."""

    subject: ModelUnderTest
    capabilities: AcceleratorCapabilities | None
    device: str
    run: RunFolder


def warm_up() -> None:
    """Does nothing: to import this module imports torch. Running an operator here would make forks hang."""


def take_step(arguments: dict[str, Any], _folder: Path) -> dict[str, Any]:
    """The task of a child. `refused` has the problems if the model can't be loaded, `failed` why the step failed."""
    examination = Examination(**arguments["examination"])
    try:
        loaded = _load(examination, RunFolder(Path(arguments["run"])))
    except InvalidInput as error:
        problems = [(problem.where, problem.message) for problem in error.problems]
        return {"refused": problems, "failed": str(error)}
    return {"refused": [], "failed": _failure(arguments["step"], loaded) if arguments["step"] else ""}


def _load(examination: Examination, run: RunFolder) -> _LoadedModel:
    """InvalidInput if the capability file or the model is not valid."""
    file = examination.device_file
    capabilities = None if file is None else read_capabilities(Path(file))
    subject = load_model(examination.model, device=examination.device, seed=examination.seed)
    subject.run_eagerly()
    return _LoadedModel(subject=subject, capabilities=capabilities, device=examination.device, run=run)


def _failure(step: str, loaded: _LoadedModel) -> str:
    """Take the step; return why it failed, in a line, or nothing."""
    try:
        _STEPS[step](loaded)
    except InvalidInput as error:
        return str(error)
    # A compiler that trips over the user's code may raise anything, and the other steps don't depend on it.
    except Exception as error:  # noqa: BLE001
        return describe_error(error)
    return ""


def _check(loaded: _LoadedModel) -> None:
    write_check(loaded.run, check_model(loaded.subject, loaded.capabilities))


def _diff(loaded: _LoadedModel) -> None:
    diff_model(loaded.subject, pictures=True).write(loaded.run)


def _guards(loaded: _LoadedModel) -> None:
    calls = find_calls(loaded.subject.name, device=loaded.device)
    report = inspect_model(loaded.subject, calls or None)
    loaded.run.write_json("guards.json", report.document())
    if not loaded.run.has("breaks.json"):
        loaded.run.write_json("breaks.json", breaks_document(report.breaks))


_STEPS: dict[str, Callable[[_LoadedModel], None]] = {"check": _check, "diff": _diff, "guards": _guards}
