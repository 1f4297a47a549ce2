"""The settings of a mock backend: arguments, and what the environment says where there are none."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from repro_runner.backends.refusals import MalformedSettings
from repro_runner.constraints import Constraint
from repro_runner.constraints.environment import Environment

_NAMES = ("strict", "constraints", "check_backward")
OPTIONS = f"{', '.join(_NAMES[:-1])} and {_NAMES[-1]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one compilation."""

    strict: bool
    constraints: tuple[Constraint, ...]
    artifacts: bool
    """Does a plain torch.compile leave a run folder?"""
    check_backward: bool = False
    """Is the backward checked with the forward, whether or not it ever runs?"""


def arguments_given(**arguments: Any) -> dict[str, Any]:
    """The arguments as `read_settings` takes them, without those that are None."""
    given = {name: value for name, value in arguments.items() if value is not None}
    # Read once: a generator would be empty at the second compilation.
    return {**given, "constraints": tuple(given["constraints"])} if "constraints" in given else given


def read_settings(arguments: Mapping[str, Any]) -> Settings:
    """The settings of one compilation. Raises MalformedSettings with everything that is wrong."""
    environment = Environment()
    problems = [f"{name}: no such option; there are {OPTIONS}" for name in arguments.keys() - set(_NAMES)]
    settings = Settings(
        strict=_flag("strict", arguments, environment, problems, default=True),
        check_backward=_flag("check_backward", arguments, environment, problems, default=False),
        constraints=_constraints(arguments.get("constraints"), environment, problems),
        artifacts=environment.switch("GRAPHBREAK_ARTIFACTS") is not False,
    )
    if problems := [*environment.problems, *problems]:
        raise MalformedSettings("\n".join(sorted(problems)), inspect.currentframe())
    return settings


def _flag(
    name: str, arguments: Mapping[str, Any], environment: Environment, problems: list[str], *, default: bool
) -> bool:
    """The argument of this name or, where it is not given, the variable of the environment: `strict`, MOCK_STRICT."""
    if (argument := arguments.get(name)) is None:
        argument = environment.switch(f"MOCK_{name.upper()}")
    elif argument not in (False, True):
        problems.append(f"{name}={argument!r}: must be True or False")
    return default if argument is None else bool(argument)


def _constraints(argument: Any, environment: Environment, problems: list[str]) -> tuple[Constraint, ...]:
    if argument is None:
        return environment.constraints()
    given = tuple(argument) if isinstance(argument, Iterable) else (argument,)
    problems += [f"constraints: {each!r} is not a Constraint" for each in given if not isinstance(each, Constraint)]
    return given
