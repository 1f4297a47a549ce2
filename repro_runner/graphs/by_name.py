"""Find a backend by name: one of this project, one that torch knows, or any other by where it is defined."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from torch.fx import GraphModule

from registry.errors import InvalidInput, Problem
from repro_runner.graphs.traced import Backend as Backend
from repro_runner.graphs.traced import CompiledGraph, decomposition_table
from repro_runner.model_under_test import ModelFailed, import_source
from repro_runner.model_under_test.model import describe_error
from repro_runner.output.suggestions import did_you_mean
from repro_runner.torch_seams import aot_autograd, list_backends, lookup_backend, make_boxed_func

OWN = {
    "mock": "repro_runner.backends.mock:mock_backend",
    "aot_mock": "repro_runner.aot_backend.mock:aot_mock_backend",
}
"""Name -> where it is defined. torch finds these by itself only if this project is installed (pyproject.toml)."""
_SHORT = {"aot": "aot_mock"}
_HOW = "name a registered backend, or `module:attribute`, or `FILE.py:attribute`"


def find_backend(name: str, decompositions: str = "") -> Backend:
    """The backend of that name: one of OWN (`aot` is short for `aot_mock`), one that is registered with torch,
    `module:attribute` or `FILE.py:attribute`. With a table of `decompositions`, one of the last two is given aten's
    graphs, forward and backward, after these, and not Dynamo's.

    Raises InvalidInput, with similar names and what to write instead, if there is none, or if importing it raises.
    """
    name = _SHORT.get(name, name)
    source, _, attribute = OWN.get(name, name).rpartition(":")
    if not source:
        return _find_registered(name)
    try:
        module = importlib.import_module(source) if name in OWN else import_source(source)
    except ModelFailed as error:
        reason = describe_error(error.__cause__ or error)
        raise InvalidInput([Problem(name, f"can't be imported: {reason}; {_HOW}")]) from error
    found: Backend | None = getattr(module, attribute, None)
    if found is None or not callable(found):
        there = hasattr(module, attribute)
        what = f"`{attribute}` in it can't be called" if there else f"no backend `{attribute}` in it"
        raise InvalidInput([Problem(name, f"{what}; {_HOW}")])
    if not decompositions or name in OWN:
        return found

    def compile_part(graph: GraphModule, inputs: Sequence[Any]) -> CompiledGraph:
        boxed: CompiledGraph = make_boxed_func(found(graph, inputs))
        return boxed

    table = dict(decomposition_table(decompositions))
    lowered: Backend = aot_autograd(fw_compiler=compile_part, bw_compiler=compile_part, decompositions=table)
    return lowered


def require_backends(arguments: dict[str, list[str]]) -> None:
    """The task of a child: InvalidInput with every name of which there is no backend."""
    problems: list[Problem] = []
    for name in arguments["names"]:
        try:
            find_backend(name)
        except InvalidInput as error:
            problems += error.problems
    if problems:
        raise InvalidInput(problems)


def _find_registered(name: str) -> Backend:
    known = sorted({*OWN, *list_backends(exclude_tags=())})
    if name not in known:
        hint = did_you_mean(name, known) or f"; there are {', '.join(known)};"
        raise InvalidInput([Problem(name, f"no such backend{hint} {_HOW}")])
    try:
        backend: Backend = lookup_backend(name)
    except Exception as error:  # whatever its package raises when it is imported
        raise InvalidInput([Problem(name, f"the backend can't be loaded: {describe_error(error)}")]) from error
    return backend
