"""What a call of compiled code writes into: tensors that it was given, and those of modules and optimisers that it can
reach by its arguments, its object, its closure or its globals."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.parameter import is_lazy

_DEEPEST = 4
"""Of containers in containers."""
_LONGEST = 1000
"""Elements of a container: a longer one holds a program's data, not its state."""
_SMALL = 4096
"""Elements of a buffer that is always looked at: torch's own kernels write running statistics without a new version."""


class State:
    """The tensors that a call can reach, with their versions before it."""

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._statistics: set[int] = set()
        seen: set[int] = set()
        self._tensors = [
            (name, tensor, _version(tensor), _version(_gradient(tensor)))
            for root, value in _roots(fn, args, kwargs)
            for name, tensor in self._reachable(value, root, 0)
            if id(tensor) not in seen and not seen.add(id(tensor))  # type: ignore[func-returns-value]
        ]

    def written(self) -> dict[str, torch.Tensor]:
        """Those that have another version now, and gradients that are new or have one."""
        found = {}
        for name, tensor, version, gradient_version in self._tensors:
            if _version(tensor) != version or id(tensor) in self._statistics:
                found[name] = tensor
            gradient = _gradient(tensor)
            if gradient is not None and _version(gradient) != gradient_version:
                found[f"{name}.grad"] = gradient
        return found

    def _reachable(self, value: Any, name: str, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
        if is_lazy(value):
            return  # it has no value yet
        if isinstance(value, torch.Tensor):
            yield name, value
        elif isinstance(value, torch.nn.Module):
            buffers = [(own, tensor) for own, tensor in value.named_buffers() if not is_lazy(tensor)]
            self._statistics |= {id(tensor) for _, tensor in buffers if value.training and tensor.numel() <= _SMALL}
            for own, tensor in (*value.named_parameters(), *buffers):
                yield from self._reachable(tensor, f"{name}.{own}", depth)
        elif isinstance(value, torch.optim.Optimizer):
            yield from self._reachable([group["params"] for group in value.param_groups], name, 0)
        elif depth == _DEEPEST or not isinstance(value, list | tuple | dict) or len(value) > _LONGEST:
            return
        elif isinstance(value, dict):
            for key, each in value.items():
                yield from self._reachable(each, f"{name}[{key!r}]", depth + 1)
        else:
            for number, each in enumerate(value):
                yield from self._reachable(each, f"{name}[{number}]", depth + 1)


def _version(tensor: torch.Tensor | None) -> tuple[int, int] | None:
    """None where there is no tensor; tensors of inference mode have no version, and are compared by identity."""
    if tensor is None:
        return None
    return id(tensor), 0 if tensor.is_inference() else tensor._version


def _gradient(tensor: torch.Tensor) -> torch.Tensor | None:
    return tensor.grad if tensor.is_leaf else None


def _roots(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    function = inspect.unwrap(getattr(fn, "__func__", fn))
    yield from ((f"argument {number}", value) for number, value in enumerate(args, 1))
    yield from ((f"argument {name}", value) for name, value in kwargs.items())
    yield "self", getattr(fn, "__self__", None)
    code = getattr(function, "__code__", None)
    if code is None:
        return
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # it has no value yet
            continue
    for name in code.co_names:
        if name in function.__globals__:
            yield name, function.__globals__[name]
