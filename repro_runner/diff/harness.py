"""Run a model under two backends and compare everything it returns, writes and differentiates.

    report = KernelDiffHarness(model, example_inputs, test_backend="inductor").compare()
    report.passed, report.max_absolute_error
    print(report.summary())

`diff_model` does the same for the model of a `FILE.py:function`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import torch

from registry.errors import InvalidInput, Problem, WriteFailed
from repro_runner.diff.comparison import (
    LeafComparison,
    compare_after_another_call,
    compare_executions,
    has_tensors,
    variation,
    written,
)
from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.difference import FirstDifference
from repro_runner.diff.execution import (
    EAGER,
    Compiler,
    Execution,
    NamedBackend,
    Seen,
    calls_of,
    execute,
    in_float64,
    inputs_of,
    named_backend,
    state_of,
)
from repro_runner.diff.first_op import WatchedGraphs
from repro_runner.diff.report import DiffReport
from repro_runner.environment import describe_environment
from repro_runner.graphs.by_name import Backend
from repro_runner.model_under_test import ModelFailed, ModelUnderTest, arguments_of, read_calls
from repro_runner.model_under_test.model import backend_traceback, describe_backend_error, describe_error, where
from repro_runner.process.isolated import IN_FLOAT64, SEARCHING, doing
from repro_runner.runs import keeps_runs
from repro_runner.torch_seams import inductor_config, reset
from repro_runner.values import tensors_in

_OTHER_NAMES = {"inputs": "example_inputs", "config": "comparison_config"}


class KernelDiffHarness:
    """A model; inputs for it: a tensor, a tuple of arguments, a dict of keywords, or a tuple of both; and two backends:
    `"eager"` for no compiler at all, another that torch.compile takes, by name or as a callable, or `"module:name"`.

    Each run has a copy of the model and of the inputs; the model stays in its own train or eval mode. What Dynamo keeps
    of earlier compilations is dropped. With `calls`, several are made one after the other: each is either inputs, or a
    function that gets the model and calls it.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        example_inputs: Any = (),
        model_name: str = "model",
        reference_backend: str | Backend = EAGER,
        test_backend: str | Backend = "inductor",
        comparison_config: ComparisonConfig | None = None,
        seed: int = 0,
        calls: Sequence[Any] = (),
        **unknown: NoReturn,
    ) -> None:
        known = ((name, _OTHER_NAMES.get(name)) for name in unknown)
        problems = [f"no argument `{name}`" + (f": write `{new}`" if new else "") for name, new in known]
        problems += [
            f"{name}={backend!r}: must be the name of a backend, or a function"
            for name, backend in (("reference_backend", reference_backend), ("test_backend", test_backend))
            if not isinstance(backend, str) and not callable(backend)
        ]
        if not isinstance(comparison_config, ComparisonConfig | None):
            problems.append(f"comparison_config={comparison_config!r}: must be a ComparisonConfig")
        if not isinstance(seed, int):
            problems.append(f"seed={seed!r}: must be a whole number")
        if problems:
            raise TypeError(f"KernelDiffHarness: {'; '.join(problems)}")
        args, kwargs = arguments_of(example_inputs, model_name)
        made = read_calls(calls, f"calls of {model_name}") if calls else ()
        self.subject = ModelUnderTest(name=model_name, model=model, args=args, kwargs=kwargs, seed=seed, calls=made)
        self._backends = (reference_backend, test_backend)
        self._config = comparison_config

    def compare(self, generate_visualizations: bool = False, find_first_op: bool = True) -> DiffReport:
        """Run the model under both backends. InvalidInput if it fails without the one under test, or has no tensor.

        Pictures, and the comparison as JSON, are kept in a run's folder: `run` of the report. With
        GRAPHBREAK_ARTIFACTS=0 nothing is kept. If the disk refuses, that is a warning."""
        report = diff_model(
            self.subject,
            self._config,
            reference_backend=self._backends[0],
            test_backend=self._backends[1],
            find_first_op=find_first_op,
            pictures=generate_visualizations,
        )
        if not generate_visualizations or not keeps_runs():
            return report
        tensors = tensors_in((self.subject.args, dict(self.subject.kwargs), self.subject.model))
        device = next((each.device.type for each in tensors), "cpu")
        try:
            return replace(report, run=report.keep(environment=describe_environment(device)))
        except WriteFailed as error:
            warnings.warn(f"the comparison is not kept: {error}", stacklevel=2)
            return report


def diff_model(
    subject: ModelUnderTest,
    config: ComparisonConfig | None = None,
    *,
    reference_backend: str | Backend = EAGER,
    test_backend: str | Backend = "inductor",
    decompositions: str = "",
    find_first_op: bool = True,
    pictures: bool = False,
) -> DiffReport:
    """As KernelDiffHarness, for a model that `load_model` made. `decompositions` is for the test backend, as
    `find_backend` has it."""
    config = config or ComparisonConfig()
    if pictures and importlib.util.find_spec("matplotlib") is None:
        remedy = "`pip install graph-break-registry[toolkit]`, or leave the pictures out"
        raise InvalidInput([Problem("pictures", f"matplotlib is not installed; {remedy}")])
    reference, test = named_backend(reference_backend), named_backend(test_backend, decompositions)
    header: dict[str, Any] = {
        "model": subject.name,
        "reference": reference.name,
        "test": test.name,
        "seed": subject.seed,
        "repeats": config.repeats,
        "gradients": config.gradients,
    }
    before = Execution(output={}, inputs=inputs_of(calls_of(subject)), state=state_of(subject.model), gradients={})
    with _same_conditions(config):
        run_reference = reference.compiler(Seen(), config.dynamic)
        expected = _run_reference(subject, reference, run_reference, config)
        _refuse_if_nothing_to_compare(subject, before, expected[0], config)
        seen = Seen()
        doing(f"running the model with {test.name}")
        try:
            run_test = test.compiler(seen, config.dynamic)
            found, other = _run_test(subject, run_test, run_reference, config, seen)
        except Exception as error:  # noqa: BLE001 - a backend may raise anything
            failure, traceback = _failure(error, seen), backend_traceback(error)
            return DiffReport(**header, failure=failure, traceback=traceback, graphs=len(seen.graphs))
        ask_float64 = config.float64 and reference.backend is None
        leaves = [*_compare(subject, replace(config, float64=ask_float64), before, expected, found), *other]
        first = None
        if any(not leaf.passed for leaf in leaves):
            if not _variations(expected):
                expected.append(_run_once_more(subject, reference, run_reference, config))
            if find_first_op and test.backend is not None:
                first = _find_first_difference(subject, test.backend, config, before, expected, found)
    return DiffReport(
        **header,
        leaves=tuple(leaves),
        reference_varies=_variations(expected),
        test_varies=_variations(found),
        graphs=len(seen.graphs),
        first_difference=first,
        pictures=_draw(leaves, expected[0], found[0], config) if pictures else {},
    )


@contextlib.contextmanager
def _same_conditions(config: ComparisonConfig) -> Iterator[None]:
    """Use nothing that was compiled before, leave nothing behind, and let Inductor use eager's random numbers."""
    reset()
    try:
        with inductor_config.patch(fallback_random=config.fallback_random):
            yield
    finally:
        reset()


def _compare(
    subject: ModelUnderTest,
    config: ComparisonConfig,
    before: Execution,
    expected: Sequence[Execution],
    found: Sequence[Execution],
) -> list[LeafComparison]:
    """Each value in the repeat in which its error is largest. Only if one differs is the model run in float64, too."""

    def compare(exact: Execution | None = None) -> list[LeafComparison]:
        pairs = zip(expected, found, strict=True)
        return _worst([compare_executions(before, *pair, config, exact) for pair in pairs])

    leaves = compare()
    if not config.float64 or all(leaf.passed or leaf.comparison is None for leaf in leaves):
        return leaves
    try:
        doing(IN_FLOAT64)
        wide, eager = in_float64(subject), named_backend(EAGER).compiler(Seen())
        return leaves if wide is None else compare(execute(wide, eager, gradients=config.gradients))
    except Exception:  # noqa: BLE001 - a program may insist on its dtypes
        return leaves


def _failure(error: BaseException, seen: Seen) -> str:
    """What was raised. If the backend did not, and had returned something that lies in memory in another way than torch
    traced it, that is to blame, and not the line that raised."""
    if seen.raised or not seen.strides:
        return describe_backend_error(error)
    output, strides = next(iter(seen.strides.items()))
    return f"it returns {output} with strides {strides}, and then the model fails: {describe_error(error)}"


def _run_test(
    subject: ModelUnderTest, compiler: Compiler, reference: Compiler, config: ComparisonConfig, seen: Seen
) -> tuple[list[Execution], list[LeafComparison]]:
    """(what each repeat left; what another call changed of that). `seen` keeps the graphs of the first repeat: what
    another one compiles is the same once more."""

    def repeat() -> Execution:
        if subject.calls:
            reset()  # else the first call would use what was compiled for the last
        return execute(subject, compiler, gradients=config.gradients)

    first = execute(subject, compiler, gradients=config.gradients)
    of_the_model = len(seen.graphs)
    try:
        return [first, *(repeat() for _ in range(1, config.repeats))], compare_after_another_call(
            subject, compiler, reference
        )
    finally:
        del seen.graphs[of_the_model:]


def _run_reference(
    subject: ModelUnderTest, named: NamedBackend, compiler: Compiler, config: ComparisonConfig
) -> list[Execution]:
    doing(f"running the model with {named.name}", own=True)
    try:
        return [execute(subject, compiler, gradients=config.gradients) for _ in range(config.repeats)]
    except InvalidInput:
        raise
    except Exception as error:
        if named.backend is None:
            failure = f"{describe_error(error)}; it fails without torch.compile, too"
            raise ModelFailed([Problem(where(error, subject.name), failure)]) from error
        failure = f"the reference backend {named.name} can't run it: {describe_backend_error(error)}"
        raise InvalidInput([Problem(subject.name, failure)]) from error


def _run_once_more(
    subject: ModelUnderTest, named: NamedBackend, compiler: Compiler, config: ComparisonConfig
) -> Execution:
    """Of the reference, after the test: if a call changes what is not copied, this has other results, or fails."""
    try:
        return _run_reference(subject, named, compiler, replace(config, repeats=1))[0]
    except InvalidInput as error:
        return Execution(output={("output",): str(error)}, inputs={}, state={}, gradients={})


def _refuse_if_nothing_to_compare(
    subject: ModelUnderTest, before: Execution, expected: Execution, config: ComparisonConfig
) -> None:
    writes = written(before.inputs, expected.inputs) or written(before.state, expected.state)
    if not has_tensors(expected.output) and not writes:
        raise InvalidInput([Problem(subject.name, "returns no tensor: nothing to compare")])
    if config.gradients and all(gradient is None for gradient in expected.gradients.values()):
        problem = "no output requires grad, so there are no gradients to compare; leave them out"
        raise InvalidInput([Problem(subject.name, problem)])


def _worst(repeats: Sequence[list[LeafComparison]]) -> list[LeafComparison]:
    """For each leaf, the repeat in which its error is largest."""
    worst: dict[str, LeafComparison] = {}
    for leaf in (leaf for leaves in repeats for leaf in leaves):
        if leaf.name not in worst or _wrongness(leaf) > _wrongness(worst[leaf.name]):
            worst[leaf.name] = leaf
    return list(worst.values())


def _wrongness(leaf: LeafComparison) -> tuple[bool, float]:
    return not leaf.passed, 0.0 if leaf.comparison is None else leaf.comparison.max_absolute_error


def _variations(executions: Sequence[Execution]) -> dict[str, float]:
    found: dict[str, float] = {}
    for again in executions[1:]:
        for name, by in variation(executions[0], again).items():
            found[name] = max(by, found.get(name, 0.0))
    return found


def _find_first_difference(
    subject: ModelUnderTest,
    backend: Backend,
    config: ComparisonConfig,
    before: Execution,
    expected: Sequence[Execution],
    found: Sequence[Execution],
) -> FirstDifference | None:
    """None if no op can be wrong: only memory differs, or what is NaN on both sides, or the reference itself varies."""
    config = replace(config, equal_nan=True)

    def differ(pairs: Iterable[tuple[Execution, Execution]]) -> bool:
        leaves = (leaf for pair in pairs for leaf in compare_executions(before, *pair, config))
        return any(not leaf.passed and leaf.part not in ("memory", "strides") for leaf in leaves)

    if not differ(zip(expected, found, strict=False)):
        return None
    reference_varies = differ((expected[0], again) for again in expected[1:])
    if not reference_varies and differ((found[0], again) for again in found[1:]):
        return FirstDifference(kind="varies", compiled=0)
    first = _search(subject, backend, config)
    return None if reference_varies and first.kind == "outside" else first


def _search(subject: ModelUnderTest, backend: Backend, config: ComparisonConfig) -> FirstDifference:
    reset()
    doing(SEARCHING)
    watched = WatchedGraphs(backend, config)
    try:
        execute(subject, lambda model: torch.compile(model, backend=watched, dynamic=config.dynamic), gradients=False)
    except Exception as error:  # noqa: BLE001 - what was compared already is not lost, whatever went wrong here
        if watched.first_difference.kind == "outside":
            failure = f"the search failed: {describe_backend_error(error)}"
            return FirstDifference(kind="unknown", compiled=0, open=(failure,))
    return watched.first_difference


def _draw(
    leaves: Sequence[LeafComparison], reference: Execution, test: Execution, config: ComparisonConfig
) -> dict[str, bytes]:
    from repro_runner.diff.pictures import draw_pictures  # matplotlib is needed for this alone

    return draw_pictures(leaves, _by_name(reference), _by_name(test), config)


def _by_name(execution: Execution) -> dict[str, Any]:
    flats = (execution.output, execution.gradients, execution.inputs, execution.state)
    return {"".join(path): leaf for flat in flats for path, leaf in flat.items()}
