"""Are two outcomes of a program the same: values, types, shapes, strides, dtypes, and what became of the inputs."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call returned or raised, and the inputs after it."""

    value: Any
    inputs: Any
    error: BaseException | None = None


def keep(value: Any) -> Any:
    """A copy that later calls can't change. Tensors lose their graph, not their values."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone(memory_format=torch.preserve_format) if type(value) is torch.Tensor else value
    if isinstance(value, dict):
        return {key: keep(item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(keep(item) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(keep(item) for item in value)
    if isinstance(value, torch.nn.Module):
        return {name: keep(item) for name, item in value.state_dict().items()}
    try:
        return copy.deepcopy(value)
    except (TypeError, RuntimeError, NotImplementedError):
        return value


def difference(expected: Outcome, actual: Outcome) -> str:
    """The first difference in words; empty when there is none."""
    if expected.error is not None or actual.error is not None:
        if type(expected.error) is type(actual.error):
            return ""
        return f"raised {_named(actual.error)}, not {_named(expected.error)}"
    return _differ("result", expected.value, actual.value) or _differ("inputs", expected.inputs, actual.inputs)


def _named(error: BaseException | None) -> str:
    return type(error).__name__ if error is not None else "nothing"


def _differ(where: str, expected: Any, actual: Any) -> str:
    if type(expected) is not type(actual):
        return f"{where}: {type(actual).__name__} instead of {type(expected).__name__}"
    if isinstance(expected, torch.Tensor):
        return _tensors_differ(where, expected, actual)
    if isinstance(expected, Mapping):
        if list(expected) != list(actual):
            return f"{where}: keys {list(actual)} instead of {list(expected)}"
        pairs = ((f"{where}[{key!r}]", expected[key], actual[key]) for key in expected)
        return next((found for pair in pairs if (found := _differ(*pair))), "")
    if isinstance(expected, list | tuple):
        if len(expected) != len(actual):
            return f"{where}: {len(actual)} items instead of {len(expected)}"
        items = ((f"{where}[{i}]", one, two) for i, (one, two) in enumerate(zip(expected, actual, strict=True)))
        return next((found for item in items if (found := _differ(*item))), "")
    if isinstance(expected, float) and expected != expected:
        return "" if actual != actual else f"{where}: {actual} instead of nan"
    if isinstance(expected, float | complex):
        return (
            ""
            if abs(expected - actual) <= 1e-5 * max(1.0, abs(expected))
            else f"{where}: {actual} instead of {expected}"
        )
    if dataclasses.is_dataclass(expected) or hasattr(expected, "__dict__"):
        return _differ(where, vars(expected), vars(actual)) if hasattr(expected, "__dict__") else ""
    return "" if expected == actual else f"{where}: {actual!r} instead of {expected!r}"


def _tensors_differ(where: str, expected: torch.Tensor, actual: torch.Tensor) -> str:
    for name in ("dtype", "shape", "layout", "device", "requires_grad"):
        if getattr(expected, name) != getattr(actual, name):
            return f"{where}: {name} {getattr(actual, name)} instead of {getattr(expected, name)}"
    if expected.layout is torch.strided and expected.stride() != actual.stride():
        return f"{where}: stride {actual.stride()} instead of {expected.stride()}"
    try:
        torch.testing.assert_close(actual, expected, equal_nan=True)
    except AssertionError as error:
        return f"{where}: {str(error).splitlines()[0]}"
    return ""
