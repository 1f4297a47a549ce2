"""Take what a model returns apart: every tensor and every other value by its name, `output.logits[0]`."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from registry.errors import InvalidInput, Problem

Path = tuple[str, ...]
Flat = dict[Path, Any]
"""A leaf, or a Container, by its path: `("output", ".logits", "[0]")`."""

_PLAIN = (torch.Tensor, str, bytes, bool, int, float, complex, type, type(None))


@dataclass(frozen=True, slots=True)
class Container:
    """What holds other values: its class, and what they are called in it."""

    kind: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind} of {', '.join(self.names) or 'nothing'}"


def flatten(value: Any, name: str, keep: Callable[[torch.Tensor], torch.Tensor] = torch.Tensor.detach) -> Flat:
    """Every container and every leaf under `value`, in order; tensors as `keep` returns them."""
    found: Flat = {}
    _descend(value, (name,), found, keep, within=())
    return found


def _descend(
    value: Any, path: Path, found: Flat, keep: Callable[[torch.Tensor], torch.Tensor], within: tuple[int, ...]
) -> None:
    value = torch.as_tensor(value) if _is_array(value) else value
    children = _children(value, path)
    if children is None:
        found[path] = keep(value) if isinstance(value, torch.Tensor) else value
        return
    if id(value) in within:
        found[path] = Container(type(value).__name__, ("itself",))
        return
    found[path] = Container(type(value).__name__, tuple(suffix for suffix, _ in children))
    for suffix, child in children:
        _descend(child, (*path, suffix), found, keep, (*within, id(value)))


def _children(value: Any, path: Path) -> list[tuple[str, Any]] | None:
    """What a container holds; None for a leaf."""
    if isinstance(value, _PLAIN):
        return None
    if isinstance(value, Iterator):
        told = f"a {type(value).__name__}, which computes only while it is consumed; return a list"
        raise InvalidInput([Problem("".join(path), told)])
    if isinstance(value, torch.nn.Module):
        return [(f".{name}", each) for name, each in (*value.named_parameters(), *value.named_buffers())]
    if dataclasses.is_dataclass(value):  # so are the outputs of Hugging Face's models
        return [(f".{each.name}", getattr(value, each.name)) for each in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", each) for name, each in zip(value._fields, value, strict=True)]
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", each) for key, each in value.items()]
    if isinstance(value, list | tuple | deque):
        return [(f"[{place}]", each) for place, each in enumerate(value)]
    if hasattr(value, "__dict__") and not callable(value):
        return [(f".{name}", each) for name, each in vars(value).items()]
    return None


def _is_array(value: Any) -> bool:
    """A numpy array of numbers; one of strings or objects is compared by equality."""
    return (
        type(value).__module__ == "numpy" and getattr(value, "dtype", None) is not None and value.dtype.kind in "biufc"
    )
