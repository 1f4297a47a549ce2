"""GuardInspector: a model's guards, breaks and recompiles, on calls that it makes or on your own calls.

report = GuardInspector(model).inspect(x)                          # x twice
report = GuardInspector(model).inspect(calls=[x4, x5, (x5, mask)])  # one call after the other

with GuardInspector() as inspector:                                # whatever this process compiles meanwhile
    compiled(x)
    compiled(y)
print(inspector.report)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any

import torch

from registry.errors import InvalidInput, Problem
from repro_runner.capture import CapturedBreak, capture_breaks
from repro_runner.guards.describing import describe
from repro_runner.guards.observing import Observation, observe
from repro_runner.guards.report import GuardReport
from repro_runner.guards.trials import Compilation, try_advice, watch_calls
from repro_runner.model_under_test import Call, ModelUnderTest
from repro_runner.model_under_test.calls import default_calls, read_calls, run_eagerly
from repro_runner.process.isolated import doing


class GuardInspector:
    """Inspects a model, which it copies, or, as a context manager, everything that is compiled in its block.

    `inputs` are those of `make_inputs`: a tensor, a tuple of arguments, a dict of keywords; `inspect` uses them when it
    is given none. `compile_options` are keywords of torch.compile. With `try_advice`, the calls are made once more
    for each piece of advice that can be followed without changing the model, and the report says what came of it.
    """

    def __init__(
        self,
        model: Callable[..., Any] | None = None,
        inputs: Any = None,
        *,
        backend: Any = "eager",
        try_advice: bool = True,
        **compile_options: Any,
    ) -> None:
        self._model = model
        self._inputs = inputs
        self._compilation = Compilation(backend=backend, options=compile_options)
        self._try_advice = try_advice
        self._undo = ExitStack()
        self._seen: tuple[Observation, list[CapturedBreak]] | None = None
        self._report: GuardReport | None = None

    @property
    def report(self) -> GuardReport:
        """The report of the last `inspect`, or of the last block."""
        if self._report is None:
            raise RuntimeError("nothing has been inspected yet; call inspect(), or leave the `with` block first")
        return self._report

    def inspect(self, *args: Any, calls: Iterable[Any] | None = None, **kwargs: Any) -> GuardReport:
        """Make the calls on a compiled copy of the model: one with these arguments, twice, or all of `calls`, each of
        which is inputs, or a function that is given the compiled model. Torch forgets what it has compiled so far."""
        if self._model is None:
            problem = "there is no model to inspect; give one: GuardInspector(model), or use it as a context manager"
            raise InvalidInput([Problem("GuardInspector()", problem)])
        name = getattr(self._model, "__name__", type(self._model).__name__)
        if calls is None:
            given = (args, kwargs) if args or kwargs or self._inputs is None else self._inputs
            calls = [given, given]
        subject = ModelUnderTest(name=name, model=self._model)
        self._report = _make_report(subject, read_calls(calls, name), self._compilation, trials=self._try_advice)
        return self._report

    def __enter__(self) -> GuardInspector:
        with ExitStack() as undo:
            breaks = undo.enter_context(capture_breaks())
            self._seen = undo.enter_context(observe()), breaks
            self._undo = undo.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.close()
        assert self._seen is not None
        observation, breaks = self._seen
        self._report = describe(observation, breaks)


def inspect_model(
    subject: ModelUnderTest,
    calls: Sequence[Call] | None = None,
    *,
    backend: Any = "eager",
    try_advice: bool = True,
    **compile_options: Any,
) -> GuardReport:
    """As GuardInspector does, for a model by name; without `calls`, its inputs twice and then with other sizes.

    ModelFailed, if a call fails without torch.compile; one that fails only with it is the report's `failure`.
    """
    compilation = Compilation(backend=backend, options=compile_options)
    return _make_report(subject, calls or default_calls(subject), compilation, trials=try_advice)


def _make_report(subject: ModelUnderTest, calls: Sequence[Call], how: Compilation, *, trials: bool) -> GuardReport:
    words = [call.words for call in calls]
    devices = [torch.cuda.current_device()] if torch.cuda.is_initialized() else []  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(devices=devices):
        doing("making the calls without a compiler", own=True)
        run_eagerly(subject, calls)
        doing("making the calls with torch.compile")
        seen = watch_calls(subject, calls, how)
        report = describe(seen.observation, seen.breaks, subject=subject.name, calls=words, failure=seen.failure)
        return try_advice(report, subject, calls, how) if trials and report.recompiles else report
