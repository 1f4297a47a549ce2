"""The child's side of a report: load the model, and take one step with it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repro_runner.adapters import AcceleratorCapabilities
from repro_runner.adapters.capability_file import read_capabilities
from repro_runner.adapters.check import check_model, write_check
from repro_runner.capture.breaks import breaks_document
from repro_runner.diff import ComparisonConfig, diff_model
from repro_runner.graphs.by_name import find_backend
from repro_runner.guards import find_calls, inspect_model
from repro_runner.model_under_test import ModelUnderTest, load_model
from repro_runner.report.examine import Examination
from repro_runner.runs import RunFolder


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoadedModel:
    """A model that runs, the device that it is meant for, and what else was asked."""

    subject: ModelUnderTest
    capabilities: AcceleratorCapabilities | None
    asked: Examination


def load(arguments: dict[str, Any]) -> None:
    """The task of the first child: load the model and run it. InvalidInput if it, or the capability file, is not
    valid."""
    _load(Examination(**arguments))


def take_step(arguments: dict[str, Any]) -> None:
    """The task of a child. InvalidInput has the reason if the step failed."""
    loaded = _load(Examination(**arguments["examination"]))
    _STEPS[arguments["step"]](loaded, RunFolder(Path(arguments["run"])))


def _load(asked: Examination) -> _LoadedModel:
    capabilities = None if asked.device_file is None else read_capabilities(Path(asked.device_file))
    subject = load_model(asked.model, device=asked.device, seed=asked.seed)
    subject.run_eagerly()
    return _LoadedModel(subject=subject, capabilities=capabilities, asked=asked)


def _check(loaded: _LoadedModel, run: RunFolder) -> None:
    table = loaded.asked.decompositions or None
    write_check(run, check_model(loaded.subject, loaded.capabilities, decompositions=table))


def _diff(loaded: _LoadedModel, run: RunFolder) -> None:
    asked = loaded.asked
    config = ComparisonConfig(gradients=asked.gradients)
    pictures = importlib.util.find_spec("matplotlib") is not None
    diff_model(
        loaded.subject, config, test_backend=asked.backend, decompositions=asked.decompositions, pictures=pictures
    ).write(run)


def _guards(loaded: _LoadedModel, run: RunFolder) -> None:
    calls = find_calls(loaded.subject.name, device=loaded.asked.device, seed=loaded.asked.seed)
    asked = loaded.asked
    own = find_backend(asked.backend, asked.decompositions) if ":" in asked.backend else "eager"
    report = inspect_model(loaded.subject, calls or None, backend=own)
    run.write_json("guards.json", report.document())
    if not run.has("breaks.json"):
        run.write_json("breaks.json", breaks_document(report.breaks))


_STEPS: dict[str, Callable[[_LoadedModel, RunFolder], None]] = {"check": _check, "diff": _diff, "guards": _guards}
