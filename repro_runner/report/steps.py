"""The child's side of a report: load the model, and take one step with it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from registry.errors import InvalidInput, Problem
from repro_runner.adapters import AcceleratorCapabilities
from repro_runner.adapters.capability_file import read_capabilities
from repro_runner.adapters.check import check_model, write_check
from repro_runner.backends.graph_dumps import keep_artifacts
from repro_runner.bench.catalogue import MODELS
from repro_runner.bench.networks import make_subject
from repro_runner.capture.breaks import breaks_document
from repro_runner.diff import ComparisonConfig, diff_model
from repro_runner.diff.execution import named_backend
from repro_runner.graphs.by_name import find_backend
from repro_runner.guards import find_calls, inspect_model
from repro_runner.minifier import search_failure, write_search
from repro_runner.model_under_test import ModelUnderTest, load_model
from repro_runner.output.terminal import plain
from repro_runner.process.isolated import doing
from repro_runner.report.examine import Examination, StepArguments
from repro_runner.runs import RunFolder

LIMITS = {
    "alignment": "alignment_requirement",
    "dtypes": "supported_dtypes",
    "max-memory": "max_memory_bytes",
    "deny-op": "unsupported_ops",
}
"""The name of an option -> the field of AcceleratorCapabilities that it sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _LoadedModel:
    """A model that runs, the device that it is meant for, and what else was asked."""

    subject: ModelUnderTest
    capabilities: AcceleratorCapabilities | None
    asked: Examination
    step: StepArguments | None = None


def load(arguments: dict[str, Any]) -> None:
    """The task of the first child: load the model and run it. InvalidInput if it, the capability file or the name of
    the backend is not valid."""
    asked = Examination(**arguments)
    named_backend(asked.backend)
    _load(asked)


def take_step(arguments: StepArguments) -> None:
    """The task of a child. InvalidInput has the reason if the step failed."""
    loaded = replace(_load(Examination(**arguments["examination"])), step=arguments)
    with keep_artifacts(None):  # the mock backends would leave runs of their own
        _STEPS[arguments["step"]](loaded, RunFolder(Path(arguments["run"])))


def _load(asked: Examination) -> _LoadedModel:
    capabilities = _capabilities(asked)
    subject = _subject(asked)
    subject.run_eagerly()
    return _LoadedModel(subject=subject, capabilities=capabilities, asked=asked)


def _subject(asked: Examination) -> ModelUnderTest:
    if asked.model not in MODELS:
        return load_model(asked.model, device=asked.device, seed=asked.seed)
    doing("making the model", own=True)
    return make_subject(asked.model, "tiny", asked.device, seed=asked.seed, batch=asked.batch, padding=asked.padding)


def _capabilities(asked: Examination) -> AcceleratorCapabilities | None:
    """What the capability file says, with the limits that were asked for besides; InvalidInput lists all problems."""
    device = None if asked.device_file is None else read_capabilities(Path(asked.device_file))
    if not asked.limits:
        return device
    problems = []
    for option, value in asked.limits.items():
        try:
            AcceleratorCapabilities(**{LIMITS[option]: value})
        except ValueError as error:
            problems += [Problem(f"--{option}", line) for line in str(error).splitlines()]
    if problems:
        raise InvalidInput(problems)
    device = device or AcceleratorCapabilities(name="this device")
    fields = {LIMITS[option]: value for option, value in asked.limits.items()}
    if "unsupported_ops" in fields:
        fields["unsupported_ops"] = (*device.unsupported_ops, *fields["unsupported_ops"])
    return replace(device, **fields)


def _check(loaded: _LoadedModel, run: RunFolder) -> None:
    table = loaded.asked.decompositions or None
    write_check(run, check_model(loaded.subject, loaded.capabilities, decompositions=table))


def _diff(loaded: _LoadedModel, run: RunFolder) -> None:
    asked = loaded.asked
    config = ComparisonConfig(gradients=asked.gradients, rtol=asked.rtol, atol=asked.atol)
    pictures = importlib.util.find_spec("matplotlib") is not None if asked.pictures is None else asked.pictures
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


def _minify(loaded: _LoadedModel, run: RunFolder) -> None:
    assert loaded.step is not None
    for kind in loaded.step["failures"]:
        search = search_failure(
            loaded.subject,
            kind,
            backend=loaded.asked.backend,
            constraints=None if loaded.capabilities is None else loaded.capabilities.constraints(),
            seconds=loaded.step["seconds"],
            memory=loaded.step["memory"],
            say=lambda line: print(plain(line), file=sys.stderr, flush=True),
        )
        write_search(run, search)
        if search.program is not None:
            return


_STEPS: dict[str, Callable[[_LoadedModel, RunFolder], None]] = {
    "check": _check,
    "diff": _diff,
    "guards": _guards,
    "minify": _minify,
}
