"""A stand-in accelerator: checks a graph against declared limits before lowering it, then runs it eagerly.

    torch.compile(model, backend="mock")
    torch.compile(model, backend="mock", options={"strict": False, "constraints": [DtypeConstraint([torch.bfloat16])]})
    torch.compile(model, backend=make_mock_backend(constraints=[ShapeConstraint(alignment=16)]))

The graphs are AOTAutograd's: aten ops, forward and backward, both checked when the forward is compiled, so that one
error lists everything. (A program that never runs a backward has none to check under `torch.no_grad()`.)

`options` win over the arguments of `make_mock_backend`, and these over the environment, read at each compilation:
MOCK_STRICT (1: raise, 0: warn and go on), MOCK_ALIGNMENT (1), MOCK_MAX_MEMORY (17179869184 bytes per tensor).
`constraints` given either way replace the two that the environment sets.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import Any

from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.exc import ShortenTraceback
from torch._functorch._aot_autograd.utils import make_boxed_func
from torch._functorch.partitioners import default_partition
from torch.fx import GraphModule

from repro_runner.constraints import Constraint, MemoryConstraint, ShapeConstraint, Violation, find_violations

CompiledGraph = Callable[..., Any]
Backend = Callable[..., CompiledGraph]

_WHOLE_NUMBER = re.compile(r"[0-9]{1,19}")
_collections: ContextVar[tuple[list[Violation], ...]] = ContextVar("collections", default=())


class MockBackendError(ShortenTraceback):
    """A RuntimeError, of the kind that Dynamo hands to the user as it is; others it wraps in BackendCompilerFailed."""

    def __init__(self, message: str, first_useful_frame: FrameType | None = None) -> None:
        super().__init__(message, first_useful_frame=first_useful_frame)


class ConstraintViolations(MockBackendError):
    """The device would refuse this program; `violations` are all the reasons."""

    def __init__(self, violations: Sequence[Violation], first_useful_frame: FrameType | None = None) -> None:
        super().__init__(_listing(violations), first_useful_frame)
        self.violations = tuple(violations)


class MalformedSettings(MockBackendError):
    """An environment variable or an option that makes no sense; the message names all of them."""


class ConstraintWarning(UserWarning):
    """The device would refuse this program, and MOCK_STRICT=0 runs it all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    strict: bool
    constraints: tuple[Constraint, ...]


def mock_backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
    """The backend "mock", configured by `options=` and the environment."""
    return _compile(graph, inputs, keywords.get("options"))


def make_mock_backend(*, strict: bool | None = None, constraints: Iterable[Constraint] | None = None) -> Backend:
    """A mock backend of one's own; what is None comes from the environment."""
    arguments: dict[str, Any] = {}
    if strict is not None:
        arguments["strict"] = strict
    if constraints is not None:
        arguments["constraints"] = tuple(constraints)

    def mock_backend(graph: GraphModule, inputs: Sequence[Any], **keywords: Any) -> CompiledGraph:
        return _compile(graph, inputs, {**arguments, **(keywords.get("options") or {})})

    return mock_backend


@contextlib.contextmanager
def collect_violations() -> Iterator[list[Violation]]:
    """Collect what every mock backend finds in this thread meanwhile, strict or not."""
    found: list[Violation] = []
    token = _collections.set((*_collections.get(), found))
    try:
        yield found
    finally:
        _collections.reset(token)


def _compile(graph: GraphModule, inputs: Sequence[Any], arguments: Mapping[str, Any] | None) -> CompiledGraph:
    compilation = _Compilation(_read_settings(arguments or {}))
    compiled: CompiledGraph = aot_autograd(
        fw_compiler=compilation.lower_forward,
        bw_compiler=_run_eagerly,
        partition_fn=compilation.partition,
        keep_inference_input_mutations=True,
    )(graph, inputs)
    return compiled


class _Compilation:
    """One graph on its way through AOTAutograd: traced jointly, cut in two, the forward lowered, later the backward."""

    def __init__(self, settings: _Settings) -> None:
        self._settings = settings
        self._backward: GraphModule | None = None

    def partition(self, joint: GraphModule, inputs: Any, **keywords: Any) -> tuple[GraphModule, GraphModule]:
        # Regions inside the graph are cut first, each with a call of its own: the last backward is that of the whole.
        forward, self._backward = default_partition(joint, inputs, **keywords)
        return forward, self._backward

    def lower_forward(self, forward: GraphModule, inputs: Sequence[Any]) -> CompiledGraph:
        """Also called for a graph that has no backward."""
        _report(find_violations(self._settings.constraints, forward, self._backward), strict=self._settings.strict)
        return _run_eagerly(forward, inputs)


def _run_eagerly(graph: GraphModule, _inputs: Sequence[Any]) -> CompiledGraph:
    boxed: CompiledGraph = make_boxed_func(graph.forward)
    return boxed


def _report(found: tuple[Violation, ...], *, strict: bool) -> None:
    for collection in _collections.get():
        collection.extend(found)
    if found and strict:
        raise ConstraintViolations(found, inspect.currentframe())
    if found:
        warnings.warn(_listing(found), ConstraintWarning, stacklevel=2)


def _listing(violations: Sequence[Violation]) -> str:
    count = f"{len(violations)} violation{'' if len(violations) == 1 else 's'} of the device's limits:"
    return "\n  ".join([count, *map(str, violations)])


def _read_settings(arguments: Mapping[str, Any]) -> _Settings:
    """Settle strictness and constraints for one compilation, or raise one error for all that is wrong."""
    unknown = arguments.keys() - {"strict", "constraints"}
    problems = [f"{name}: no such option; there are strict and constraints" for name in unknown]
    settings = _Settings(
        strict=_strictness(arguments.get("strict"), problems),
        constraints=_constraints(arguments.get("constraints"), problems),
    )
    if problems:
        raise MalformedSettings("\n".join(sorted(problems)), inspect.currentframe())
    return settings


def _strictness(argument: Any, problems: list[str]) -> bool:
    if argument is None:
        return bool(_environment_number("MOCK_STRICT", 1, 0, problems, at_most=1))
    if argument not in (False, True):
        problems.append(f"strict={argument!r}: must be True or False")
    return bool(argument)


def _constraints(argument: Any, problems: list[str]) -> tuple[Constraint, ...]:
    if argument is None:
        alignment = _environment_number("MOCK_ALIGNMENT", 1, 1, problems)
        max_bytes = _environment_number("MOCK_MAX_MEMORY", 17179869184, 0, problems)
        return ShapeConstraint(alignment=alignment), MemoryConstraint(max_bytes=max_bytes)
    given = tuple(argument) if isinstance(argument, Iterable) else (argument,)
    problems += [f"constraints: {each!r} is not a Constraint" for each in given if not isinstance(each, Constraint)]
    return given


def _environment_number(
    variable: str, default: int, at_least: int, problems: list[str], at_most: int | None = None
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
