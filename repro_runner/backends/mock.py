"""A stand-in accelerator: checks a graph against declared limits before lowering it, then runs it eagerly.

    torch.compile(model, backend="mock")
    torch.compile(model, backend="mock", options={"strict": False, "constraints": [DtypeConstraint([torch.bfloat16])]})
    torch.compile(model, backend=make_mock_backend(constraints=[ShapeConstraint(alignment=16)]))

The graphs are AOTAutograd's: aten ops, forward and backward, both checked when the forward is compiled, so that one
error lists everything. (A program that never runs a backward has none to check under `torch.no_grad()`.)

`options` win over the arguments of `make_mock_backend`, and these over the environment, read at each compilation:

    MOCK_STRICT           1: raise; 0: warn and go on
    MOCK_ALIGNMENT        every dimension is a multiple of so many elements; a dimension of size 1 is spared
    MOCK_ALIGNMENT_DIMS   only these dimensions: -1 is the last. MOCK_ALIGNMENT_SPARE_ONES=0 spares none,
                          MOCK_ALIGNMENT_UNIT=bytes counts bytes, those of the last dimension
    MOCK_DTYPES           the dtypes it has: float32,bfloat16
    MOCK_LAYOUT           the layouts it has: contiguous,channels_last
    MOCK_DENY_OPS         the ops it lacks: sort,topk
    MOCK_MAX_MEMORY       bytes of the largest tensor: 4096, 2GiB; 16GiB if it is not set
    MOCK_MAX_PEAK_MEMORY  bytes that a forward or a backward needs at once

`constraints` given either way replace those that the environment sets.

Each process leaves a run folder, which `graphbreak artifacts list` shows: its graphs, and what was found in them.
GRAPHBREAK_ARTIFACTS=0 turns that off.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch.fx import GraphModule

from repro_runner.backends.graph_dumps import keep_graph
from repro_runner.backends.refusals import MalformedSettings, report_violations
from repro_runner.constraints import Constraint, find_violations
from repro_runner.constraints.environment import Environment
from repro_runner.graphs.traced import Backend, CompiledGraph, TracedGraph, compile_eagerly

_OPTIONS = frozenset({"strict", "constraints"})


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
    environment = Environment()
    problems = [f"{name}: no such option; there are strict and constraints" for name in arguments.keys() - _OPTIONS]
    settings = Settings(
        strict=_flag("strict", arguments, environment, problems, default=True),
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
