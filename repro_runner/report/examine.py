"""Make a run that holds everything about a model: check, diff, guards; if asked for, the smallest program that fails,
and a benchmark. No torch here.

Each step runs in a process of its own, within a time limit. A step that fails, kills its process or takes too long is
written down, and the next goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypedDict

from registry.errors import InvalidInput
from repro_runner.bench.catalogue import BACKENDS, MODELS, Measurement
from repro_runner.bench.document import Row, bench_document, describe_machine
from repro_runner.bench.suite import measure_rows, plan_rows
from repro_runner.output.places import with_shown_places
from repro_runner.process import Limits
from repro_runner.process.isolated import ChildFailed, Isolation, isolation
from repro_runner.report.contents import keep_failures, read_contents
from repro_runner.runs import RunFolder

STEPS = {"check": "violations", "diff": "numerics", "guards": "guards"}
"""Verb -> the kind of document with its result."""
_KEPT = ("device_file", "seed", "backend", "gradients", "rtol", "atol", "decompositions")
"""What the manifest keeps of an examination."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What is examined."""

    model: str
    """MODEL.py:make_model, or a name in the catalogue of the benchmark, which stands for its tiny size."""
    device: str
    seed: int
    device_file: str | None = None
    backend: str = "inductor"
    """The one that `diff` compares with eager; `guards` and `bench` have it, too, if it is the user's own."""
    gradients: bool = False
    decompositions: str = ""
    rtol: float | None = None
    atol: float | None = None
    """Tolerances of `diff`; None: those of ComparisonConfig."""
    pictures: bool | None = None
    """Of the errors; None: if they can be drawn here."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """More limits of the device, by the names of options: LIMITS in repro_runner/report/steps.py."""
    batch: int | None = None
    padding: int = 0
    """Of a model of the catalogue: see `make_subject`."""


class StepArguments(TypedDict):
    """What a child is given: the examination, the folder of the run, and its step."""

    examination: dict[str, Any]
    run: str
    step: str
    failures: list[str]
    """The kinds of failure that `minify` looks for, until one of them gives a program."""
    seconds: float
    memory: int
    """The limits of the processes that `minify` starts."""


def examine(
    examination: Examination,
    limits: Limits,
    environment: Mapping[str, Any],
    say: Callable[[str], None],
    *,
    verb: str = "report",
    minify: bool = False,
    **manifest: Any,
) -> RunFolder:
    """Take every step, each in a child. `say` gets a line when a step begins, and one if it fails.

    With `minify`, the last step shrinks what failed. `verb` and `manifest` are for the manifest of the run.
    InvalidInput if there is no such model or backend, or if the model fails without a compiler, too; then no run is
    made.
    """
    module = MODELS[examination.model].module if examination.model in MODELS else ""
    with isolation(*filter(None, ["repro_runner.report.steps", module])) as children:
        _load(children, examination, limits)
        settings = {name: getattr(examination, name) for name in _KEPT}
        run = RunFolder.create(verb, subject=examination.model, environment=environment, **{**settings, **manifest})
        try:
            _take_steps(children, examination, run, limits, say, minify)
        except KeyboardInterrupt:
            run.delete_if_empty()
            raise
    return run


def _take_steps(
    children: Isolation,
    examination: Examination,
    run: RunFolder,
    limits: Limits,
    say: Callable[[str], None],
    minify: bool,
) -> None:
    failures: dict[str, str] = {}
    for step, kind in {**STEPS, "minify": "minified"}.items():
        kinds = failures_to_minify(run) if step == "minify" and minify else []
        if step == "minify" and not kinds:
            continue
        say(f"{step} …")
        arguments = StepArguments(
            examination=asdict(examination),
            run=str(run.path),
            step=step,
            failures=kinds,
            seconds=limits.seconds,
            memory=limits.memory,
        )
        if why := _take_step(children, arguments, run, limits):
            say(f"{step} failed: {with_shown_places(why)}")
            failures[kind] = why
            keep_failures(run, failures)


def failures_to_minify(run: RunFolder) -> list[str]:
    """What was found, as kinds of failure of the minifier, the worst first: a backend that fails, wrong numbers, a
    violation of a limit."""
    found = read_contents(run)
    numerics = found.documents.get("numerics")
    fails = "numerics" in found.failures or (numerics is not None and bool(numerics["failure"]))
    differs = numerics is not None and not numerics["passed"] and not fails
    violates = bool(found.documents.get("violations", {}).get("violations"))
    return ["compile"] * fails + ["numeric"] * differs + ["violation"] * violates


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


def _take_step(children: Isolation, arguments: StepArguments, run: RunFolder, limits: Limits) -> str:
    """The reason in one line if it failed, else nothing."""
    each = arguments["step"] == "minify"  # it runs many programs, each within the limits
    try:
        children.run("repro_runner.report.steps:take_step", arguments, limits, each=each)
    except InvalidInput as error:
        return str(error)
    except ChildFailed as error:
        run.add_traceback(error.stack)
        return str(error)
    return ""
