"""How strict a mock backend is, and with which constraints: from its arguments, `options=` and the environment."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from repro_runner.backends.refusals import MalformedSettings
from repro_runner.constraints import Constraint, MemoryConstraint, PeakMemoryConstraint, ShapeConstraint

_WHOLE_NUMBER = re.compile(r"[0-9]{1,19}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What one compilation goes by."""

    strict: bool
    constraints: tuple[Constraint, ...]
    artifacts: bool
    """Does a plain torch.compile leave a run folder?"""


def arguments_given(strict: bool | None, constraints: Iterable[Constraint] | None) -> dict[str, Any]:
    """The arguments of a backend of one's own, as `read_settings` takes them; None is not given."""
    given = {"strict": strict, "constraints": None if constraints is None else tuple(constraints)}
    return {name: value for name, value in given.items() if value is not None}


def read_settings(arguments: Mapping[str, Any]) -> Settings:
    """Settle everything for one compilation, or raise one error for all that is wrong."""
    unknown = arguments.keys() - {"strict", "constraints"}
    problems = [f"{name}: no such option; there are strict and constraints" for name in unknown]
    settings = Settings(
        strict=_strictness(arguments.get("strict"), problems),
        constraints=_constraints(arguments.get("constraints"), problems),
        artifacts=bool(_environment_number("GRAPHBREAK_ARTIFACTS", 0, problems, at_most=1, default=1)),
    )
    if problems:
        raise MalformedSettings("\n".join(sorted(problems)), inspect.currentframe())
    return settings


def _strictness(argument: Any, problems: list[str]) -> bool:
    if argument is None:
        return bool(_environment_number("MOCK_STRICT", 0, problems, at_most=1, default=1))
    if argument not in (False, True):
        problems.append(f"strict={argument!r}: must be True or False")
    return bool(argument)


def _constraints(argument: Any, problems: list[str]) -> tuple[Constraint, ...]:
    if argument is None:
        return _environment_constraints(problems)
    given = tuple(argument) if isinstance(argument, Iterable) else (argument,)
    problems += [f"constraints: {each!r} is not a Constraint" for each in given if not isinstance(each, Constraint)]
    return given


def _environment_constraints(problems: list[str]) -> tuple[Constraint, ...]:
    alignment = _environment_number("MOCK_ALIGNMENT", 1, problems, default=1)
    max_bytes = _environment_number("MOCK_MAX_MEMORY", 0, problems, default=17179869184)
    max_peak = _environment_number("MOCK_MAX_PEAK_MEMORY", 0, problems, default=-1)
    peak = () if max_peak < 0 else (PeakMemoryConstraint(max_bytes=max_peak),)
    return ShapeConstraint(alignment=alignment), MemoryConstraint(max_bytes=max_bytes), *peak


def _environment_number(
    variable: str, at_least: int, problems: list[str], *, at_most: int | None = None, default: int
) -> int:
    """A variable that is unset or empty has its default; so has a malformed one, once its problem is noted."""
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    if _WHOLE_NUMBER.fullmatch(text) and at_least <= int(text) and (at_most is None or int(text) <= at_most):
        return int(text)
    wanted = f"a whole number, at least {at_least}" if at_most is None else f"{at_least} or {at_most}"
    problems.append(f"{variable}={text!r}: must be {wanted}")
    return default
