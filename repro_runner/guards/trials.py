"""Make the calls on a compiled model, and watch: once as the user does, then once per piece of advice."""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from repro_runner.capture import CapturedBreak, capture_breaks
from repro_runner.guards.advice import (
    BEFORE_CALL,
    BEFORE_FIRST_CALL,
    DYNAMIC,
    DYNAMIC_WITHOUT_DUCKS,
    IN_THE_CODE,
    NONE_HELPED,
    NOTHING,
    UNKNOWN,
    Advice,
)
from repro_runner.guards.changes import Change
from repro_runner.guards.observing import Observation, observe
from repro_runner.guards.report import GuardReport
from repro_runner.model_under_test import Call, ModelUnderTest
from repro_runner.model_under_test.calls import Model, copied, fresh_model, parameters_of
from repro_runner.output.units import counted
from repro_runner.torch_seams import reset

Prepare = Callable[[Any, Model], Model]
"""(the compiled model, the original model) -> what is called in place of the compiled model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What was seen in some calls. `failure` is the error of a call that fails only under torch.compile, if any."""

    observation: Observation
    breaks: tuple[CapturedBreak, ...]
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilation:
    """How the user compiles the model."""

    backend: Any = "eager"
    options: Mapping[str, Any] = field(default_factory=dict)
    """Keywords of torch.compile."""


def watch_calls(
    subject: ModelUnderTest, calls: Sequence[Call], how: Compilation, prepare: Prepare | None = None
) -> Watched:
    """Make the calls on a compiled copy of the model. Dynamo's compilations from before and from here are dropped."""
    model = fresh_model(subject)
    reset()
    failure = ""
    try:
        with capture_breaks() as breaks, observe() as observation:
            compiled: Model = torch.compile(model, backend=how.backend, **how.options)
            called = prepare(compiled, model) if prepare else compiled
            for number, call in enumerate(copied(calls), 1):
                torch.manual_seed(subject.seed)
                observation.call = number
                try:
                    call.make(called)
                except Exception as error:  # noqa: BLE001  the backend may raise anything; without it the call works
                    failure = f"call {number} ({call.words}): {_error_line(error)}"
                    break
    finally:
        reset()
    return Watched(observation=observation, breaks=tuple(breaks), failure=failure)


def _error_line(error: Exception) -> str:
    """The error in one line: the first reason of a list; else its first line, with the next if that ends with `:`."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reasons = [line[2:].partition(". ")[0] for line in lines if line.startswith("- ")]
    announced = [" ".join(lines[:2])] if lines and lines[0].endswith(":") else lines
    return ": ".join([type(error).__name__, *(reasons or announced)[:1]])


class _Prepared:
    """A compiled model that runs lines of code before its calls. The lines see the arguments by name."""

    def __init__(self, compiled: Any, model: Model, code: str, *, once: bool) -> None:
        self.__dict__.update(_compiled=compiled, _model=model, _code=code, _once=once)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = parameters_of(self._model).bind(*args, **kwargs)
        bound.apply_defaults()
        names: dict[str, Any] = {**bound.arguments, "torch": torch}
        exec(self._code, names)
        if self._once:
            self.__dict__["_code"] = ""
        changed = {name: names[name] for name in bound.arguments if names[name] is not bound.arguments[name]}
        bound.arguments.update(changed)
        return self._compiled(*bound.args, **bound.kwargs) if changed else self._compiled(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._compiled, name, value)


def try_advice(report: GuardReport, subject: ModelUnderTest, calls: Sequence[Call], how: Compilation) -> GuardReport:
    """The report, with the result of each piece of advice that can be followed without changing the model's code."""
    results: dict[Advice, Watched] = {}

    def tried(advice: Advice) -> Advice:
        if advice.how in (IN_THE_CODE, NOTHING):
            return advice
        if advice not in results:
            results[advice] = _follow_advice(advice, subject, calls, how)
        return _judge_advice(advice, results[advice], report)

    recompiles = []
    for one in report.recompiles:
        found = [tried(advice) for advice in one.advice if _is_reachable(advice, subject)]
        assuming = [
            each for each in found if each.code == DYNAMIC and _assumed(results[replace(each, holds=None, tried="")])
        ]
        found += [tried(replace(DYNAMIC_WITHOUT_DUCKS, about=each.about)) for each in assuming]
        if all(each.holds is False for each in found):
            found.append(NONE_HELPED if found else UNKNOWN)
        recompiles.append(replace(one, advice=_best_first(found)))
    return replace(report, recompiles=tuple(recompiles))


def _is_reachable(advice: Advice, subject: ModelUnderTest) -> bool:
    """Whether the caller has the values to change before a call: it does not have arguments of an inner function."""
    if advice.how not in (BEFORE_CALL, BEFORE_FIRST_CALL):
        return True
    try:
        there = parameters_of(subject.model).parameters
    except (TypeError, ValueError):
        return False
    return all(re.split(r"\W", name)[0] in there for about in advice.about for name in about.split(" and "))


def _follow_advice(advice: Advice, subject: ModelUnderTest, calls: Sequence[Call], how: Compilation) -> Watched:
    def prepare(compiled: Any, model: Model) -> Model:
        return _Prepared(compiled, model, advice.code, once=advice.how == BEFORE_FIRST_CALL)

    with _silence():
        if advice.how in (BEFORE_CALL, BEFORE_FIRST_CALL):
            return watch_calls(subject, calls, how, prepare)
        options = {**how.options, "dynamic": True} if DYNAMIC in advice.code else how.options
        with _settings(advice.code):
            return watch_calls(subject, calls, replace(how, options=options))


@contextmanager
def _settings(code: str) -> Iterator[None]:
    """Apply lines of the form `module.setting = value` inside the block."""
    with ExitStack() as undo:
        for line in code.splitlines():
            place, equals, value = line.partition(" = ")
            if equals:
                module, _, setting = place.rpartition(".")
                undo.enter_context(importlib.import_module(module).patch({setting: value == "True"}))
        yield


@contextmanager
def _silence() -> Iterator[None]:
    """Turn torch's logs off: in a trial torch may refuse, and then it logs at length."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _judge_advice(advice: Advice, result: Watched, report: GuardReport) -> Advice:
    """The advice with its result. It holds if the calls work, with fewer recompiles for its values and no new harm."""
    if result.failure:
        return replace(advice, holds=False, tried=result.failure)
    earlier = [words for each in report.recompiles for words in each.seen if _about(each.changes) & {*advice.about}]
    left = [event for event in result.observation.recompiles if _about(event.changes) & {*advice.about}]
    before, after = report.recompile_count, len(result.observation.recompiles)
    breaks = len({each.stack for each in result.breaks if each.happened} - {each.stack for each in report.breaks})
    words = f"tried: {counted(after, 'recompile')} instead of {before}"
    if breaks:
        return replace(advice, holds=False, tried=f"{words}, but {counted(breaks, 'more break')}")
    if after == before and not left:
        words = f"tried: no longer among the reasons; {counted(after, 'recompile')} left for others"
    return replace(advice, holds=len(left) < len(earlier) and after <= before, tried=words)


def _assumed(result: Watched) -> bool:
    """Whether torch assumed that two sizes are one, and compiled again when they were not."""
    return any(change.aspect == "assumed" for event in result.observation.recompiles for change in event.changes)


def _about(changes: Sequence[Change]) -> set[str]:
    return {source for change in changes for source in change.sources}


def _best_first(advice: Sequence[Advice]) -> tuple[Advice, ...]:
    """What was tried and holds, what was not tried, what does not hold."""
    return tuple(sorted(advice, key=lambda each: (True, None, False).index(each.holds)))
