"""Are two outcomes of a program the same: values, types, shapes, strides, dtypes, and what became of the inputs."""

from __future__ import annotations

import copy
import dataclasses
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a call returned or raised, and the inputs after it."""

    value: Any
    inputs: Any
    error: BaseException | None = None


def keep(value: Any, seen: dict[int, Any] | None = None) -> Any:
    """A copy that later calls can't change. Tensors lose their graph, not their values."""
    seen = {} if seen is None else seen
    if id(value) in seen:
        return seen[id(value)]  # a container may hold itself
    if isinstance(value, torch.Tensor):
        return _copied(value) if type(value) is torch.Tensor else value
    if isinstance(value, dict):
        copied = copy.copy(value)  # of the same class, with the same order
        seen[id(value)] = copied
        for key, item in value.items():
            copied[key] = keep(item, seen)
        return copied
    if type(value) is list:
        items: list[Any] = []
        seen[id(value)] = items
        items.extend(keep(item, seen) for item in value)
        return items
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(keep(item, seen) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(keep(item, seen) for item in value)
    if isinstance(value, torch.nn.Module):
        return {**{name: keep(item, seen) for name, item in value.state_dict().items()}, **_attributes(value, seen)}
    try:
        return copy.deepcopy(value)
    except (TypeError, RuntimeError, NotImplementedError):
        return value


def _attributes(module: torch.nn.Module, seen: dict[int, Any]) -> dict[str, Any]:
    """What a program may have left on a module, as far as it is made of plain values."""
    return {
        f"{path}.{name}": keep(item, seen)
        for path, part in module.named_modules()
        for name, item in vars(part).items()
        if not name.startswith("_") and _is_plain(item)
    }


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    if type(value) is dict:
        return all(map(_is_plain, (*value, *value.values())))
    return value is None or type(value) in (bool, int, float, complex, str, bytes, torch.Tensor)


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    copied = tensor.detach().clone()
    if tensor.requires_grad:
        copied.requires_grad_()
        if tensor.is_leaf and tensor.grad is not None and tensor.grad.dtype == tensor.dtype:
            copied.grad = tensor.grad.detach().clone()  # what a backward left there is a change of the input
    return copied


def difference(expected: Outcome, actual: Outcome) -> str:
    """The first difference in words; empty when there is none."""
    if expected.error is not None or actual.error is not None:
        if type(expected.error) is type(actual.error):
            return ""
        return f"raised {_named(actual.error)}, not {_named(expected.error)}"
    return _differ("result", expected.value, actual.value) or _differ("inputs", expected.inputs, actual.inputs)


def _named(error: BaseException | None) -> str:
    return type(error).__name__ if error is not None else "nothing"


def _differ(where: str, expected: Any, actual: Any, within: frozenset[int] = frozenset()) -> str:
    if type(expected) is not type(actual):
        return f"{where}: {type(actual).__name__} instead of {type(expected).__name__}"
    if isinstance(expected, torch.Tensor):
        return _tensors_differ(where, expected, actual)
    if type(expected).__module__ == "numpy" and hasattr(expected, "__array__"):
        return _arrays_differ(where, expected, actual)
    if id(expected) in within:
        return ""  # a container that holds itself: this very comparison is under way
    within |= {id(expected)}
    if isinstance(expected, Mapping):
        if keys := _differ(f"{where}: keys", list(expected), list(actual), within):
            return keys
        pairs = zip(expected.items(), actual.values(), strict=True)  # by place: a key may be a tensor, and a copy
        return _first((f"{where}[{key!r}]", one, two, within) for (key, one), two in pairs)
    if isinstance(expected, list | tuple | deque):
        if len(expected) != len(actual):
            return f"{where}: {len(actual)} items instead of {len(expected)}"
        items = enumerate(zip(expected, actual, strict=True))
        return _first((f"{where}[{index}]", one, two, within) for index, (one, two) in items)
    if isinstance(expected, float) and expected != expected:
        return "" if actual != actual else f"{where}: {actual} instead of nan"
    if isinstance(expected, float | complex):
        close = abs(expected - actual) <= 1e-5 * max(1.0, abs(expected))
        return "" if close else f"{where}: {actual} instead of {expected}"
    if dataclasses.is_dataclass(expected) and not isinstance(expected, type):
        names = [one.name for one in dataclasses.fields(expected)]
        return _first((f"{where}.{name}", getattr(expected, name), getattr(actual, name), within) for name in names)
    if hasattr(expected, "__dict__") and not isinstance(expected, type):
        return _differ(where, vars(expected), vars(actual), within)
    return "" if expected == actual else f"{where}: {actual!r} instead of {expected!r}"


def _first(pairs: Iterable[tuple[str, Any, Any, frozenset[int]]]) -> str:
    return next((found for pair in pairs if (found := _differ(*pair))), "")


def _arrays_differ(where: str, expected: Any, actual: Any) -> str:
    if (expected.dtype, expected.shape) != (actual.dtype, actual.shape):
        return f"{where}: {actual.dtype} {actual.shape} instead of {expected.dtype} {expected.shape}"
    if expected.dtype.kind in "fc":
        same = torch.allclose(torch.as_tensor(expected), torch.as_tensor(actual), rtol=1e-5, equal_nan=True)
    else:
        same = bool((expected == actual).all())
    return "" if same else f"{where}: {actual!r} instead of {expected!r}"


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
    if not (expected.is_leaf and expected.requires_grad):
        return ""
    if (expected.grad is None) != (actual.grad is None):
        return f"{where}: {'no gradient' if actual.grad is None else 'a gradient'}, unlike eager"
    if expected.grad is None or actual.grad is None:
        return ""
    return _tensors_differ(f"{where}.grad", expected.grad, actual.grad)
