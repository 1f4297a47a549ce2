"""A stand-in accelerator: checks a graph against declared limits before lowering it, then runs it eagerly.

    torch.compile(model, backend="mock")
    torch.compile(model, backend="mock", options={"strict": False, "constraints": [DtypeConstraint([torch.bfloat16])]})
    torch.compile(model, backend=make_mock_backend(constraints=[ShapeConstraint(alignment=16)]))

The graphs are AOTAutograd's: aten ops, forward and backward, both checked when the forward is compiled, so that one
error lists everything. (A program that never runs a backward has none to check under `torch.no_grad()`.)

`options` win over the arguments of `make_mock_backend`, and these over the environment, read at each compilation:
MOCK_STRICT (1: raise, 0: warn and go on), MOCK_ALIGNMENT (1), MOCK_MAX_MEMORY (17179869184 bytes per tensor),
MOCK_MAX_PEAK_MEMORY (bytes that a forward or a backward needs at once; unset: any).
`constraints` given either way replace those that the environment sets.

Each process leaves a run folder, which `graphbreak artifacts list` shows: its graphs, and what was found in them.
GRAPHBREAK_ARTIFACTS=0 turns that off.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch.fx import GraphModule

from repro_runner.backends.graph_dumps import keep_graph
from repro_runner.backends.refusals import MalformedSettings, report_violations
from repro_runner.constraints import Constraint, find_violations
from repro_runner.constraints.base import constraints_with_settings
from repro_runner.graphs.traced import Backend, CompiledGraph, TracedGraph, compile_eagerly

_WHOLE_NUMBER = re.compile(r"[0-9]{1,19}")


def mock_backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
    """The backend "mock", configured by `options=` and the environment."""
    return _compile(graph, inputs, keywords.get("options") or {})


def make_mock_backend(*, strict: bool | None = None, constraints: Iterable[Constraint] | None = None) -> Backend:
    """Make a mock backend. What is None comes from the environment."""
    arguments = arguments_given(strict, constraints)

    def mock_backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
        return _compile(graph, inputs, {**arguments, **(keywords.get("options") or {})})

    return mock_backend


def _compile(graph: GraphModule, inputs: Sequence[Any], arguments: Mapping[str, Any]) -> CompiledGraph:
    settings = read_settings(arguments)

    def check(traced: TracedGraph) -> None:
        found = find_violations(settings.constraints, traced.forward, traced.backward)
        keep_graph(traced, found, backend="mock", asked=settings.artifacts)
        report_violations(found, strict=settings.strict)

    return compile_eagerly(graph, inputs, check)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one compilation."""

    strict: bool
    constraints: tuple[Constraint, ...]
    artifacts: bool
    """Does a plain torch.compile leave a run folder?"""


def arguments_given(strict: bool | None, constraints: Iterable[Constraint] | None) -> dict[str, Any]:
    """The arguments as `read_settings` takes them, without those that are None."""
    given = {"strict": strict, "constraints": None if constraints is None else tuple(constraints)}
    return {name: value for name, value in given.items() if value is not None}


def read_settings(arguments: Mapping[str, Any]) -> Settings:
    """The settings of one compilation. Raises MalformedSettings with everything that is wrong."""
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
    """The limits that have an environment variable, each at its default where that is not set."""
    found = []
    for kind in constraints_with_settings():
        if (setting := kind.setting) is not None and setting.variable:
            value = _environment_number(setting.variable, setting.at_least, problems, default=setting.default)
            if value is not None:
                found.append(kind.from_setting(value))
    return tuple(found)


def _environment_number(
    variable: str, at_least: int, problems: list[str], *, at_most: int | None = None, default: int | None
) -> int | None:
    """A variable that is unset or empty has its default; so has a malformed one, once its problem is noted."""
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    if _WHOLE_NUMBER.fullmatch(text) and at_least <= int(text) and (at_most is None or int(text) <= at_most):
        return int(text)
    wanted = f"a whole number, at least {at_least}" if at_most is None else f"{at_least} or {at_most}"
    problems.append(f"{variable}={text!r}: must be {wanted}")
    return default
