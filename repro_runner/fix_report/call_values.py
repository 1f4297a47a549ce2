"""Copy the values that a program's compiled calls return, within limits, save them, and compare two runs."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import torch

from repro_runner.values import Container, children, describe_tolerances, flatten, values_differ

_WHOLE = 16 << 20
"""A tensor up to this many bytes is kept completely."""
_ALL = 256 << 20
"""The limit in bytes for all tensors that are kept."""
_SAMPLE = 4096
"""About this many elements are kept of a larger tensor, evenly spread."""

CONTAINERS = (list, tuple, dict, set, deque)
PLAIN = (bool, int, float, complex, str, *CONTAINERS)
DEEPEST = 4
"""How many levels of nested containers are searched."""
LONGEST = 1000
"""A container with more elements is not searched: it has a program's data, not its state."""
HELD = "at the end of the program, "
"""Begins the path of a Python value that the program holds. A changed program may hold more."""

EXACT_BACKENDS = frozenset({"eager", "aot_eager", "eager_noexcept"})
"""Backends that run torch's own kernels, so that results do not depend on where graphs break."""


@dataclasses.dataclass(slots=True)
class Keeper:
    """Copies values. It keeps only a sample of a tensor that is too large."""

    left: int = _ALL
    sampled: int = 0
    """How many tensors were kept as a sample."""

    def flat(self, result: Any, written: Mapping[str, torch.Tensor] | None = None) -> dict[str, Any]:
        """Map the path of every value in a result to a copy, and of every container to its class and size. `written`
        are the tensors that the call changed; they are added."""
        flat = {"".join(path): _as_plain(leaf) for path, leaf in flatten(result, "result", self._kept).items()}
        return flat | {f"{name} after the call": self._kept(tensor) for name, tensor in (written or {}).items()}

    def plain(self, value: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
        """(path, copy) of a Python value and what is in it. A number may have become a tensor of one element."""
        if isinstance(value, torch.Tensor):
            is_number = type(value) is torch.Tensor and value.numel() == 1 and not value.is_meta
            yield path, value.item() if is_number else self._kept(value)
        elif isinstance(value, CONTAINERS):
            yield path, f"{type(value).__name__} of {len(value)}"
            inside = children(value) if depth < DEEPEST and len(value) <= LONGEST else None
            for own, each in inside or ():
                yield from self.plain(each, f"{path}{own}", depth + 1)
        else:
            yield path, _as_plain(value)

    def _kept(self, tensor: torch.Tensor) -> Any:
        requires_grad, tensor = tensor.requires_grad, tensor.detach()
        if type(tensor) is not torch.Tensor or tensor.layout is not torch.strided or tensor.is_meta:
            return f"a {type(tensor).__qualname__} {tensor.dtype} {tuple(tensor.shape)}"
        size = tensor.numel() * tensor.element_size()
        facts = [str(tensor.dtype), list(tensor.shape), list(tensor.stride()), str(tensor.device), requires_grad]
        if size > min(_WHOLE, self.left):
            self.sampled += 1
            step = max(1, tensor.numel() // _SAMPLE)
            tensor = tensor.flatten()[::step]
        else:
            self.left -= size
        return {"tensor": tensor.to("cpu", copy=True).contiguous(), "facts": facts}


def _as_plain(leaf: Any) -> Any:
    """A value that can be saved: numbers and texts as they are, of all other objects only the class."""
    if isinstance(leaf, Container):
        return f"a {leaf.kind}" if leaf.names == ("itself",) else f"{leaf.kind} of {len(leaf.names)}"
    if type(leaf) in (bool, int, float, complex, str, type(None), dict):
        return leaf
    return repr(leaf) if isinstance(leaf, Enum) else f"a {type(leaf).__qualname__}"


def write_calls(path: Path, calls: Sequence[dict[str, Any]]) -> None:
    """Save the values of the calls to a file that is safe to load."""
    torch.save(list(calls), path)


def read_calls(path: Path) -> list[dict[str, Any]]:
    """The calls in a file that `write_calls` wrote."""
    calls: list[dict[str, Any]] = torch.load(path, weights_only=True)
    return calls


def find_differences(
    expected: Sequence[dict[str, Any]], actual: Sequence[dict[str, Any]], *, exact: bool
) -> dict[str, str]:
    """Describe the differences of two runs, by call and path, in order; empty if there are none."""
    if len(expected) != len(actual):
        return {"calls": f"{len(actual)} calls of compiled code instead of {len(expected)}"}
    pairs = enumerate(zip(expected, actual, strict=True), 1)
    return {
        f"call {number}: {path}": difference if path.startswith("at the end") else f"call {number}: {difference}"
        for number, (one, two) in pairs
        for path in dict.fromkeys((*one, *two))
        if path in one or not path.startswith(HELD)
        if (difference := _values_differ(path, one, two, exact=exact))
    }


def count_values(calls: Sequence[dict[str, Any]]) -> int:
    """How many tensors and numbers the calls returned or wrote, and the program holds."""
    return sum(isinstance(leaf, dict | int | float | complex) for call in calls for leaf in call.values())


def strictness(*, exact: bool) -> str:
    """Describe how outputs are compared."""
    tolerances = describe_tolerances(fused=not exact)
    return f"types, shapes, strides and dtypes the same; floating-point values within {tolerances}"


def _values_differ(path: str, expected: dict[str, Any], actual: dict[str, Any], *, exact: bool) -> str:
    if path in expected and path in actual and isinstance(expected[path], dict) == isinstance(actual[path], dict):
        return _leaves_differ(path, expected[path], actual[path], exact=exact)
    one, two = (_describe(calls[path]) if path in calls else "nothing" for calls in (expected, actual))
    return f"{path}: {two} instead of {one}"


def _describe(leaf: Any) -> str:
    return f"a tensor {leaf['facts'][0]} {leaf['facts'][1]}" if isinstance(leaf, dict) else f"{leaf!r:.80}"


def _leaves_differ(where: str, expected: Any, actual: Any, *, exact: bool) -> str:
    if not isinstance(expected, dict):
        return values_differ(expected, actual, where, fused=not exact)
    names = ("dtype", "shape", "stride", "device", "requires_grad")
    for name, one, two in zip(names, expected["facts"], actual["facts"], strict=True):
        if one != two:
            return f"{where}: {name} {two} instead of {one}"
    return values_differ(expected["tensor"], actual["tensor"], where, fused=not exact)
