"""The settings of a mock backend: arguments, and what the environment says where there are none."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from repro_runner.backends.refusals import MalformedSettings
from repro_runner.constraints import Constraint
from repro_runner.constraints.environment import Environment
from repro_runner.runs.run_folder import ARTIFACTS

_NAMES = ("strict", "constraints", "check_backward")
_EXAMPLE = 'DtypeConstraint(["float32"])'
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
    """The arguments as `read_settings` takes them. Raises MalformedSettings with everything that is wrong."""
    given = _given(arguments)
    _refuse(_problems(given))
    return given


def read_settings(arguments: Mapping[str, Any]) -> Settings:
    """The settings of one compilation. Raises MalformedSettings with everything that is wrong."""
    environment, given = Environment(), _given(arguments)
    settings = Settings(
        strict=_flag("strict", given, environment, default=True),
        check_backward=_flag("check_backward", given, environment, default=False),
        constraints=given["constraints"] if "constraints" in given else environment.constraints(),
        artifacts=environment.switch(ARTIFACTS) is not False,
    )
    _refuse([*environment.problems, *_problems(given)])
    return settings


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without those that are None."""
    given = {name: value for name, value in arguments.items() if value is not None}
    constraints = given.get("constraints")
    if isinstance(constraints, Iterable) and not isinstance(constraints, str):
        given["constraints"] = tuple(constraints)  # read once: a generator would be empty at the second compilation
    return given


def _problems(given: Mapping[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        if name not in _NAMES:
            yield f"{name}: no such option; there are {OPTIONS}"
        elif name != "constraints":
            if value not in (False, True):
                yield f"{name}={value!r}: must be True or False"
        elif isinstance(value, tuple):
            wrong = (each for each in value if not isinstance(each, Constraint))
            yield from (f"constraints: {each!r} is not a Constraint such as {_EXAMPLE}" for each in wrong)
        else:
            yield f"constraints: must be a list such as [{_EXAMPLE}], not {type(value).__name__}"


def _refuse(problems: Iterable[str]) -> None:
    if found := sorted(problems):
        raise MalformedSettings("\n".join(found), inspect.currentframe())


def _flag(name: str, given: Mapping[str, Any], environment: Environment, *, default: bool) -> bool:
    """The argument of this name or, where it is not given, the variable of the environment: `strict`, MOCK_STRICT."""
    argument = given[name] if name in given else environment.switch(f"MOCK_{name.upper()}")
    return default if argument is None else bool(argument)
