"""Limits on a tensor: its shape, dtype, size in memory and memory layout.

A dynamic dimension is checked with the size it had when the graph was compiled. That adds no guard, so a later call
with another size runs the same graph, unchecked. A size that depends on data is not known then, and not checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar, TypeGuard

import torch

from repro_runner.constraints.base import TensorConstraint
from repro_runner.constraints.nodes import TracedTensor
from repro_runner.constraints.op_names import OpName

# From the innermost dimension out; None: the last dimension is the innermost, whatever the rank.
_MEMORY_ORDER: dict[str, tuple[int, ...] | None] = {
    "contiguous": None,
    "channels_last": (1, 3, 2, 0),
    "channels_last_3d": (1, 4, 3, 2, 0),
}


class ShapeConstraint(TensorConstraint):
    """Every dimension, or those in `dims`, is a multiple of `alignment`."""

    rule: ClassVar[str] = "shape-alignment"

    def __init__(
        self,
        alignment: int,
        *,
        dims: Iterable[int] | None = None,
        ops: Iterable[OpName] | None = None,
        arguments: Iterable[str | int] | None = None,
    ) -> None:
        super().__init__(ops=ops, arguments=arguments)
        if alignment < 1:
            raise ValueError(f"alignment={alignment}: must be at least 1")
        self.alignment = alignment
        self.dims = None if dims is None else tuple(dims)

    def complaint(self, tensor: TracedTensor) -> str | None:
        wrong = [
            f"dimension {dim} is {_shown(tensor, dim)}"
            for dim in self._checked(len(tensor.sizes))
            if (size := tensor.sizes[dim]) is not None and size % self.alignment
        ]
        return f"{', '.join(wrong)}: not a multiple of {self.alignment}" if wrong else None

    def _checked(self, rank: int) -> list[int]:
        """A tensor of lower rank lacks some of the named dimensions; it is checked on those it has."""
        if self.dims is None:
            return list(range(rank))
        return sorted({dim % rank for dim in self.dims if -rank <= dim < rank})


class DtypeConstraint(TensorConstraint):
    """Only these dtypes, given as `torch.float32` or `"float32"`."""

    rule: ClassVar[str] = "dtype"

    def __init__(
        self,
        allowed_dtypes: Iterable[torch.dtype | str],
        *,
        ops: Iterable[OpName] | None = None,
        arguments: Iterable[str | int] | None = None,
    ) -> None:
        super().__init__(ops=ops, arguments=arguments)
        asked = _several(allowed_dtypes, "allowed_dtypes")
        found = {name: getattr(torch, name, None) for name in map(_plain_name, asked)}
        self.allowed_dtypes = frozenset(dtype for dtype in found.values() if isinstance(dtype, torch.dtype))
        if unknown := [name for name, dtype in found.items() if dtype not in self.allowed_dtypes]:
            raise ValueError(f"no such dtype: {_listed(unknown)}")

    def complaint(self, tensor: TracedTensor) -> str | None:
        if tensor.dtype in self.allowed_dtypes:
            return None
        return f"{_plain_name(tensor.dtype)} is not one of {_listed(map(_plain_name, self.allowed_dtypes))}"


class MemoryConstraint(TensorConstraint):
    """No single tensor takes more than `max_bytes`. A sparse tensor's size is not known when compiling: not checked."""

    rule: ClassVar[str] = "memory"

    def __init__(
        self,
        max_bytes: int,
        *,
        ops: Iterable[OpName] | None = None,
        arguments: Iterable[str | int] | None = None,
    ) -> None:
        super().__init__(ops=ops, arguments=arguments)
        if max_bytes < 0:
            raise ValueError(f"max_bytes={max_bytes}: must not be negative")
        self.max_bytes = max_bytes

    def complaint(self, tensor: TracedTensor) -> str | None:
        taken = _bytes_taken(tensor)
        if taken is None or taken <= self.max_bytes:
            return None
        return f"takes {taken} bytes, more than {self.max_bytes}"


class LayoutConstraint(TensorConstraint):
    """Only these layouts: `contiguous`, `channels_last`, `channels_last_3d`, `strided` (any strides), `sparse_coo` …

    `torch.channels_last` and `torch.sparse_coo` are understood as well as their names.
    """

    rule: ClassVar[str] = "layout"

    def __init__(
        self,
        allowed: Iterable[str | torch.memory_format | torch.layout] = ("contiguous",),
        *,
        ops: Iterable[OpName] | None = None,
        arguments: Iterable[str | int] | None = None,
    ) -> None:
        super().__init__(ops=ops, arguments=arguments)
        names = {_plain_name(name).removesuffix("_format") for name in _several(allowed, "allowed")}
        known = _MEMORY_ORDER.keys() | _torch_layouts()
        if unknown := names - known:
            raise ValueError(f"no such layout: {_listed(unknown)}; there are {_listed(known)}")
        self.allowed = frozenset(names)

    def complaint(self, tensor: TracedTensor) -> str | None:
        layout = _plain_name(tensor.layout)
        if layout in self.allowed:
            return None
        if tensor.layout != torch.strided:
            return f"{layout} is not one of {_listed(self.allowed)}"
        sizes, strides = tensor.sizes, tensor.strides
        if not _all_known(sizes) or not _all_known(strides):
            return None
        if any(_is_laid_out(sizes, strides, _MEMORY_ORDER[name]) for name in self.allowed & _MEMORY_ORDER.keys()):
            return None
        return f"strides ({', '.join(map(str, strides))}) are not {_listed(self.allowed)}"


def _is_laid_out(sizes: Sequence[int], strides: Sequence[int], order: tuple[int, ...] | None) -> bool:
    """Does memory hold the dimensions densely in this order? torch's `is_contiguous` can guard on symbols."""
    if order is not None and len(order) != len(sizes):
        return False
    if 0 in sizes:
        return True
    expected = 1
    for dim in order or reversed(range(len(sizes))):
        if sizes[dim] != 1 and strides[dim] != expected:
            return False
        expected *= sizes[dim]
    return True


def _bytes_taken(tensor: TracedTensor) -> int | None:
    """What the elements need; those that `expand` repeats lie in memory once."""
    sizes, strides = tensor.sizes, tensor.strides
    if tensor.layout != torch.strided or not _all_known(sizes) or not _all_known(strides):
        return None
    elements = math.prod(sizes)
    reach = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    return min(elements, reach) * tensor.dtype.itemsize


def _all_known(sizes: tuple[int | None, ...]) -> TypeGuard[tuple[int, ...]]:
    return None not in sizes


def _shown(tensor: TracedTensor, dim: int) -> str:
    if isinstance(tensor.shape[dim], int):
        return str(tensor.shape[dim])
    return f"{tensor.sizes[dim]} (dynamic {tensor.shape[dim]}, as first compiled)"


def _torch_layouts() -> set[str]:
    return {_plain_name(value) for value in vars(torch).values() if isinstance(value, torch.layout)}


def _plain_name(value: object) -> str:
    return str(value).removeprefix("torch.")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _several(values: Iterable[object], argument: str) -> list[object]:
    """A lone string is an iterable of letters, and never what was meant."""
    if isinstance(values, str):
        raise TypeError(f"{argument}={values!r}: must be a list")
    return list(values)
