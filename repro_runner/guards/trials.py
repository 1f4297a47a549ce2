"""Make a model's calls compiled, and watch: once as the user does, then with each piece of advice followed."""

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
from repro_runner.guards.calls import Call, Model, copied, fresh_model, parameters_of
from repro_runner.guards.changes import Change
from repro_runner.guards.observing import Observation, observe
from repro_runner.guards.report import GuardReport
from repro_runner.model_under_test import ModelUnderTest
from repro_runner.output.units import counted
from repro_runner.torch_seams import reset

Prepare = Callable[[Any, Model], Model]
"""From the compiled model and the one that it is of, to what is called in its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What was seen in a number of calls; `failure` is the one that torch.compile failed, if any."""

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
    """Make the calls on a compiled copy of the model. What Dynamo has compiled before and here is dropped."""
    model = fresh_model(subject)
    reset()
    failure = ""
    try:
        with capture_breaks() as breaks, observe() as observation:
            compiled: Model = torch.compile(model, backend=how.backend, **how.options)
            called = prepare(compiled, model) if prepare else compiled
            for number, call in enumerate(copied(calls), 1):
                torch.manual_seed(subject.seed)
                try:
                    call.make(called)
                except Exception as error:  # noqa: BLE001  of the backend, which is anybody's; without it the call works
                    failure = f"call {number} ({call.words}): {_refusal(error)}"
                    break
    finally:
        reset()
    return Watched(observation=observation, breaks=tuple(breaks), failure=failure)


def _refusal(error: Exception) -> str:
    """The first line of what it says, and what that announces; of a list of reasons the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reasons = [line[2:].partition(". ")[0] for line in lines if line.startswith("- ")]
    announced = [" ".join(lines[:2])] if lines and lines[0].endswith(":") else lines
    return ": ".join([type(error).__name__, *(reasons or announced)[:1]])


class _Prepared:
    """A compiled model with lines of code before its calls, which have the arguments by name."""

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
    """The report with what came of each piece of advice that can be followed from outside of the model's code."""
    results: dict[Advice, Watched] = {}

    def tried(advice: Advice) -> Advice:
        if advice.how in (IN_THE_CODE, NOTHING):
            return advice
        if advice not in results:
            results[advice] = _followed(advice, subject, calls, how)
        return _judged(advice, results[advice], report)

    recompiles = []
    for one in report.recompiles:
        found = [tried(advice) for advice in one.advice if _is_reachable(advice, subject)]
        assuming = [
            each for each in found if each.code == DYNAMIC and _assumes(results[replace(each, holds=None, tried="")])
        ]
        found += [tried(replace(DYNAMIC_WITHOUT_DUCKS, about=each.about)) for each in assuming]
        if all(each.holds is False for each in found):
            found.append(NONE_HELPED if found else UNKNOWN)
        recompiles.append(replace(one, advice=_best_first(found)))
    return replace(report, recompiles=tuple(recompiles))


def _is_reachable(advice: Advice, subject: ModelUnderTest) -> bool:
    """Whether the caller has what is to be changed before a call: not so the arguments of a function inside."""
    if advice.how not in (BEFORE_CALL, BEFORE_FIRST_CALL):
        return True
    try:
        there = parameters_of(subject.model).parameters
    except (TypeError, ValueError):
        return False
    return all(re.split(r"\W", name)[0] in there for about in advice.about for name in about.split(" and "))


def _followed(advice: Advice, subject: ModelUnderTest, calls: Sequence[Call], how: Compilation) -> Watched:
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
    """With the lines `module.setting = value` in force."""
    with ExitStack() as undo:
        for line in code.splitlines():
            place, equals, value = line.partition(" = ")
            if equals:
                module, _, setting = place.rpartition(".")
                undo.enter_context(importlib.import_module(module).patch({setting: value == "True"}))
        yield


@contextmanager
def _silence() -> Iterator[None]:
    """Without torch's logs: in a trial, it may refuse, and then it logs at length."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def _judged(advice: Advice, result: Watched, report: GuardReport) -> Advice:
    """It holds if the calls work, what it is about recompiles less often, and nothing else gets worse for it."""
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


def _assumes(result: Watched) -> bool:
    """Whether torch took two sizes for one, and had to compile again when they were not."""
    return any(change.aspect == "assumed" for event in result.observation.recompiles for change in event.changes)


def _about(changes: Sequence[Change]) -> set[str]:
    return {source for change in changes for source in change.sources}


def _best_first(advice: Sequence[Advice]) -> tuple[Advice, ...]:
    """What was tried and holds, what was not tried, what does not hold."""
    return tuple(sorted(advice, key=lambda each: (True, None, False).index(each.holds)))
