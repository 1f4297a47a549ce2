"""Limits on a tensor: its dtype, shape, memory layout and size in memory, and that its shape is static.

A dynamic dimension is checked with the size it had when the graph was compiled. That adds no guard, so a later call
with another size runs the same graph, unchecked. A size that depends on data is not known then, and not checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeGuard

import torch
from torch.fx import Node

from repro_runner.constraints.base import ScriptText, Setting, TensorConstraint, Violation
from repro_runner.constraints.narrowing import OpName
from repro_runner.constraints.nodes import TracedTensor, tensors_of
from repro_runner.output.suggestions import did_you_mean

_UNITS = ("elements", "bytes")
_SYMBOL = re.compile(r"\b[su]\d+\b")
# Short names of dtypes in compilers and data sheets.
_SHORT_DTYPE = re.compile(r"(?P<kind>fp|bf|f|i|s|u)(?P<bits>\d+)")
_LONG = {"fp": "float", "f": "float", "bf": "bfloat", "i": "int", "s": "int", "u": "uint"}

# From the innermost dimension out; None: the last dimension is the innermost, whatever the rank.
_MEMORY_ORDER: dict[str, tuple[int, ...] | None] = {
    "contiguous": None,
    "channels_last": (1, 3, 2, 0),
    "channels_last_3d": (1, 4, 3, 2, 0),
}


class DtypeConstraint(TensorConstraint):
    """Only these dtypes, given as `torch.float32` or `"float32"`."""

    rule: ClassVar[str] = "dtype"
    setting: ClassVar[Setting | None] = Setting(
        key="dtypes",
        field="supported_dtypes",
        read=lambda file, node, key: tuple(map(_plain_name, file.names(node, key, _dtype_problem))),
        in_rules=True,
        variable="MOCK_DTYPES",
    )

    def __init__(
        self,
        allowed_dtypes: Iterable[torch.dtype | str],
        *,
        ops: Iterable[OpName] | None = None,
        arguments: Iterable[str | int] | None = None,
    ) -> None:
        super().__init__(ops=ops, arguments=arguments)
        asked = _as_list(allowed_dtypes, "allowed_dtypes")
        found = {name: getattr(torch, name, None) for name in map(_plain_name, asked)}
        self.allowed_dtypes = frozenset(dtype for dtype in found.values() if isinstance(dtype, torch.dtype))
        if unknown := [name for name, dtype in found.items() if dtype not in self.allowed_dtypes]:
            raise ValueError(f"no such dtype: {_listed(unknown)}")

    def complaint(self, tensor: TracedTensor) -> str | None:
        if tensor.dtype in self.allowed_dtypes:
            return None
        return f"{_plain_name(tensor.dtype)} is not one of {_listed(map(_plain_name, self.allowed_dtypes))}"

    def script_text(self, _op: str, /) -> ScriptText:
        allowed = ", ".join(sorted(map(str, self.allowed_dtypes)))
        lines = (
            f"if tensor.dtype not in [{allowed}]:",
            f'    yield f"{{shown(tensor)}}: not one of {allowed or "none"}"',
        )
        return ScriptText(summary=f"only {allowed or 'none'}", lines=lines)


class ShapeConstraint(TensorConstraint):
    """Every dimension, or those in `dims`, is a multiple of `alignment` elements.

    A dimension of size 1 is spared, since a device need not lay it out: the gradient of a bias passes through [1, n].
    `spare_ones=False` checks it, too. With `unit="bytes"`, a dimension's size times the bytes of an element is a
    multiple of `alignment`; then only the last dimension is checked, unless `dims` names others.
    """

    rule: ClassVar[str] = "shape-alignment"
    setting: ClassVar[Setting | None] = Setting(
        key="alignment",
        field="alignment_requirement",
        read=lambda file, node, key: file.number(node, key, at_least=1),
        no_limit=(1,),
        in_rules=True,
        options={
            "dims": lambda file, node, key: file.numbers(node, key),
            "spare_ones": lambda file, node, key: file.flag(node, key),
            "unit": lambda file, node, key: file.choice(node, key, _UNITS),
        },
        variable="MOCK_ALIGNMENT",
        default=1,
    )

    def __init__(
        self,
        alignment: int,
        *,
        dims: Iterable[int] | None = None,
        spare_ones: bool = True,
        unit: str = "elements",
        ops: Iterable[OpName] | None = None,
        arguments: Iterable[str | int] | None = None,
    ) -> None:
        super().__init__(ops=ops, arguments=arguments)
        if alignment < 1:
            raise ValueError(f"alignment={alignment}: must be at least 1")
        if unit not in _UNITS:
            raise ValueError(f"unit={unit!r}: must be {' or '.join(_UNITS)}")
        self.alignment = alignment
        self.unit = unit
        self.spare_ones = spare_ones
        self.dims = ((-1,) if unit == "bytes" else None) if dims is None else tuple(dims)

    def complaint(self, tensor: TracedTensor) -> str | None:
        in_bytes = self.unit == "bytes"
        wrong = []
        for dim in self._checked(len(tensor.sizes)):
            if (size := tensor.sizes[dim]) is None or (size == 1 and self.spare_ones):
                continue
            length = size * tensor.dtype.itemsize if in_bytes else size
            if length % self.alignment:
                shown = f" ({length} bytes)" if in_bytes else ""
                wrong.append(f"dimension {dim} is {_shown(tensor, dim)}{shown}")
        return f"{', '.join(wrong)}: not a multiple of {self.alignment} {self.unit}" if wrong else None

    def _checked(self, rank: int) -> list[int]:
        """A tensor of lower rank lacks some of the named dimensions; it is checked on those it has."""
        if self.dims is None:
            return list(range(rank))
        return sorted({dim % rank for dim in self.dims if -rank <= dim < rank})

    def script_text(self, _op: str, /) -> ScriptText:
        which, dims = "every dimension", "range(tensor.dim())"
        if self.dims is not None:
            which = f"dimension {' and '.join(map(str, self.dims))}"
            dims = f"[dim for dim in {self.dims} if -tensor.dim() <= dim < tensor.dim()]"
        size = "tensor.shape[dim] * tensor.dtype.itemsize" if self.unit == "bytes" else "tensor.shape[dim]"
        but_ones, or_one = (" and tensor.shape[dim] != 1", ", or of size 1") if self.spare_ones else ("", "")
        wanted = f"a multiple of {self.alignment} {self.unit}"
        lines = (
            f"for dim in {dims}:",
            f"    if {size} % {self.alignment}{but_ones}:",
            f'        yield f"{{shown(tensor)}}: dimension {{dim}} is not {wanted}"',
        )
        return ScriptText(summary=f"{which} is {wanted}{or_one}", lines=lines)


class LayoutConstraint(TensorConstraint):
    """Only these layouts: `contiguous`, `channels_last`, `channels_last_3d`, `strided` (any strides), `sparse_coo` …

    `torch.channels_last` and `torch.sparse_coo` are understood as well as their names.
    """

    rule: ClassVar[str] = "layout"
    setting: ClassVar[Setting | None] = Setting(
        key="layouts",
        field="layouts",
        read=lambda file, node, key: file.names(node, key, _layout_problem),
        in_rules=True,
        variable="MOCK_LAYOUT",
    )

    def __init__(
        self,
        allowed: Iterable[str | torch.memory_format | torch.layout] = ("contiguous",),
        *,
        ops: Iterable[OpName] | None = None,
        arguments: Iterable[str | int] | None = None,
    ) -> None:
        super().__init__(ops=ops, arguments=arguments)
        names = {_plain_name(name).removesuffix("_format") for name in _as_list(allowed, "allowed")}
        if unknown := names - _known_layouts():
            raise ValueError(f"no such layout: {_listed(unknown)}; there are {_listed(_known_layouts())}")
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

    def script_text(self, _op: str, /) -> ScriptText:
        allowed = sorted(self.allowed)
        lines = (
            f"allowed = {' or '.join(map(_layout_test, allowed)) or False}",
            "if not allowed:",
            "    strides = tensor.stride() if tensor.layout == torch.strided else tensor.layout",
            f'    yield f"{{shown(tensor)}} of strides {{strides}} is not {", ".join(allowed)}"',
        )
        return ScriptText(summary=f"only {', '.join(allowed)}", lines=lines)


class MemoryConstraint(TensorConstraint):
    """No single tensor takes more than `max_bytes`. A sparse tensor's size is not known when compiling: not checked."""

    rule: ClassVar[str] = "memory"
    setting: ClassVar[Setting | None] = Setting(
        key="largest_tensor",
        field="max_tensor_bytes",
        read=lambda file, node, key: file.size(node, key),
        in_rules=True,
        variable="MOCK_MAX_MEMORY",
        default=17179869184,
    )

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

    def script_text(self, _op: str, /) -> ScriptText:
        lines = (
            "if tensor.layout != torch.strided:",
            "    continue  # how much a sparse tensor takes is not known yet",
            "# what `expand` repeats lies in memory once",
            "reach = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))",
            "taken = min(tensor.numel(), reach) * tensor.dtype.itemsize",
            f"if taken > {self.max_bytes}:",
            f'    yield f"{{shown(tensor)}} takes {{taken}} bytes, more than {self.max_bytes}"',
        )
        return ScriptText(summary=f"no tensor takes more than {self.max_bytes} bytes", lines=lines)


class StaticShapesConstraint(TensorConstraint):
    """No dimension is dynamic. Reported where one enters: at an input, or an op whose result depends on data."""

    rule: ClassVar[str] = "dynamic-shape"
    setting: ClassVar[Setting | None] = Setting(
        key="dynamic_shapes",
        field="supports_dynamic_shapes",
        read=lambda file, node, key: file.flag(node, key),
        no_limit=(True,),
    )

    @classmethod
    def from_setting(cls, _value: Any, /, **keywords: Any) -> StaticShapesConstraint:
        return cls(**keywords)

    def complaint(self, tensor: TracedTensor) -> str | None:
        dynamic = [f"dimension {dim} is {size}" for dim, size in enumerate(tensor.shape) if isinstance(size, str)]
        return f"{', '.join(dynamic)}: this device takes static shapes only" if dynamic else None

    def check(self, node: Node) -> Iterator[Violation]:
        known = _symbols(size for each in node.all_input_nodes for tensor in tensors_of(each) for size in tensor.shape)
        known |= _symbols(each.meta.get("val") for each in node.all_input_nodes)
        for violation in super().check(node):
            if not _symbols(violation.shape or ()) <= known:
                yield violation

    def script_text(self, _op: str, /) -> ScriptText:
        lines = (
            "dynamic = [dim for dim, size in enumerate(tensor.shape) if not isinstance(size, int)]",
            "if dynamic:",
            '    yield f"{shown(tensor)}: dimension {dynamic[0]} is dynamic"',
        )
        return ScriptText(summary="no dimension is dynamic", lines=lines)


def _symbols(sizes: Iterable[object]) -> set[str]:
    """The symbols in `2*s77 + u0`; a tensor's own text has none."""
    return {symbol for size in sizes if not isinstance(size, torch.Tensor) for symbol in _SYMBOL.findall(str(size))}


def _dtype_problem(name: str) -> str:
    """Why a capability file can't name this dtype; nothing if it can."""
    name = _plain_name(name)
    if isinstance(getattr(torch, name, None), torch.dtype):
        return ""
    short = _SHORT_DTYPE.fullmatch(name.lower())
    long = f"{_LONG[short['kind']]}{short['bits']}" if short else name
    known = sorted(key for key, value in vars(torch).items() if isinstance(value, torch.dtype))
    return f"{name}: no such dtype{did_you_mean(long, known, most=2)}"


def _layout_problem(name: str) -> str:
    """Why a capability file can't name this layout; nothing if it can."""
    name = _plain_name(name).removesuffix("_format")
    if name in _known_layouts():
        return ""
    return f"{name}: no such layout{did_you_mean(name, _known_layouts()) or f'; there are {_listed(_known_layouts())}'}"


def _layout_test(name: str) -> str:
    """Whether `tensor` has this layout, as an expression."""
    if name == "contiguous":
        return "tensor.layout == torch.strided and tensor.is_contiguous()"
    if isinstance(getattr(torch, name), torch.memory_format):
        return f"tensor.layout == torch.strided and tensor.is_contiguous(memory_format=torch.{name})"
    return f"tensor.layout == torch.{name}"


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
    """Bytes of the elements; those that `expand` repeats are in memory once. None if a size is not known."""
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


def _known_layouts() -> set[str]:
    return {*_MEMORY_ORDER, *(_plain_name(value) for value in vars(torch).values() if isinstance(value, torch.layout))}


def _plain_name(value: object) -> str:
    return str(value).removeprefix("torch.")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _as_list(values: Iterable[object], argument: str) -> list[object]:
    """The values as a list. Raises TypeError for a lone string, which would be a list of letters."""
    if isinstance(values, str):
        raise TypeError(f"{argument}={values!r}: must be a list")
    return list(values)
