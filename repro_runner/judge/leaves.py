"""Values as data: what a child sends of one value, and how two of them are compared. To read them loads no code."""

from __future__ import annotations

import cmath
import math
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch

from repro_runner.torch_seams import FakeTensor
from repro_runner.values import is_array, tolerance_of

Leaf = Any
"""A plain value as it is, a tensor as a dictionary, and of anything else a tuple with a description."""
Flat = dict[str, Leaf]
"""By path: `result[0]`, `state.layer.weight`."""

PLAIN = (bool, int, float, complex, str, bytes, type(None))
_WHOLE = 16 << 20
"""A tensor up to this many bytes is kept completely."""
_ALL = 256 << 20
"""The limit in bytes for all tensors that are kept."""
_SAMPLE = 4096
"""About this many elements are kept of a larger tensor, evenly spread."""
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}|(?<=id=)\d{6,}")
_LONGEST = 200
"""Characters of a description; of a longer text, a checksum follows."""
_FACTS = ("dtype", "shape", "layout", "device", "requires_grad", "inference", "stride", "class")


@dataclass(slots=True)
class Room:
    """How much of the tensors is kept."""

    left: int = _ALL
    sampled: int = 0
    """How many tensors were kept as a sample."""
    left_out: int = 0
    """How many values were not looked at, since there are too many."""


def described(text: str) -> Leaf:
    """Of an object that is not sent: what is known of it. Addresses differ from run to run, and are left out."""
    text = _ADDRESS.sub("0x...", text)
    rest = f"… {zlib.crc32(text.encode('utf-8', 'replace')):08x}" if len(text) > _LONGEST else ""
    return ("is", text[:_LONGEST] + rest)


def leaf_of(value: Any, room: Room) -> Leaf:
    """One value without what is inside of it."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, Enum):
        return described(repr(value))
    if isinstance(value, torch.Tensor):
        return _tensor_leaf(value, room)
    if is_array(value):
        tensor = torch.as_tensor(value.copy() if hasattr(value, "strides") else value)
        return {**_tensor_leaf(tensor, room), "facts": {"dtype": f"numpy {value.dtype}", "shape": list(value.shape)}}
    if isinstance(value, PLAIN):  # a subclass: an int with attributes, say
        return described(f"{type(value).__qualname__} {value!r}")
    return described(type(value).__qualname__)


def _tensor_leaf(tensor: torch.Tensor, room: Room) -> Leaf:
    facts = {
        "dtype": str(tensor.dtype),
        "shape": [list(part.shape) for part in tensor.unbind()] if tensor.is_nested else list(map(int, tensor.shape)),
        "layout": str(tensor.layout),
        "device": tensor.device.type,
        "requires_grad": tensor.requires_grad,
        "inference": tensor.is_inference(),
        "stride": list(tensor.stride()) if tensor.layout is torch.strided and not tensor.is_nested else [],
        "class": type(tensor).__qualname__,
    }
    with torch.no_grad():
        parts = [] if tensor.is_meta or isinstance(tensor, FakeTensor) else _parts(tensor.detach())
        return {"facts": facts, "parts": [_kept(part, room) for part in parts]}


def _parts(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The plain tensors of which it consists."""
    if tensor.is_nested:
        return [part.contiguous() for part in tensor.unbind()]
    if tensor.layout is torch.sparse_coo:
        whole = tensor.coalesce()
        return [whole.indices(), whole.values()]
    if tensor.layout is not torch.strided:
        return [tensor.to_dense()]
    if tensor.is_quantized:
        return [tensor.int_repr(), tensor.dequantize()]
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        inner = getattr(tensor, "__tensor_flatten__", None)
        if inner is not None:
            return [part for name in inner()[0] for part in _parts(getattr(tensor, name).detach())]
        return [tensor.as_subclass(torch.Tensor)]
    return [tensor.resolve_conj().resolve_neg()]


def _kept(tensor: torch.Tensor, room: Room) -> torch.Tensor:
    size = tensor.numel() * tensor.element_size()
    if size > min(_WHOLE, room.left):
        room.sampled += 1
        return tensor.flatten()[:: max(1, tensor.numel() // _SAMPLE)].to("cpu", copy=True).contiguous()
    room.left -= size
    return tensor.to("cpu", copy=True).contiguous()


_NOISE = 1e-13
"""In double, what may be left where numbers cancel out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closeness:
    """How close two values have to be."""

    fused: bool = False
    """Looser, for generated code."""
    by_size: float = 0.0
    """An error may be this part of the largest number: where large numbers cancel out, rounding errors stay."""
    ignored: frozenset[str] = frozenset()
    """Facts of tensors that are not compared: `stride`."""
    float_dtype: torch.dtype = torch.float32
    """The default dtype of the runs: so exact are Python's numbers."""


EXACT = Closeness()


def leaves_differ(expected: Leaf, actual: Leaf, where: str, closeness: Closeness = EXACT) -> str:
    """Describe how two leaves differ; empty when they are the same. NaN equals NaN."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return _tensors_differ(expected, actual, where, closeness)
    if type(expected) is not type(actual):
        return f"{where}: {told(actual)} instead of {told(expected)}"
    is_number = isinstance(expected, float | complex)
    same = _is_close(expected, actual, closeness) if is_number else expected == actual
    return "" if same else f"{where}: {told(actual)} instead of {told(expected)}"


def told(leaf: Leaf) -> str:
    """A leaf in words."""
    if isinstance(leaf, Mapping):
        return f"a tensor {leaf['facts']['dtype'].removeprefix('torch.')} {leaf['facts']['shape']}"
    return str(leaf[1]) if isinstance(leaf, tuple) else f"{leaf!r:.80}"


def _is_close(expected: complex, actual: complex, closeness: Closeness) -> bool:
    if expected == actual or (cmath.isnan(expected) and cmath.isnan(actual)):
        return True
    rtol, atol = tolerance_of(closeness.float_dtype, fused=closeness.fused)
    return abs(expected - actual) <= atol + rtol * abs(expected) < math.inf


def _tensors_differ(expected: Mapping[str, Any], actual: Mapping[str, Any], where: str, closeness: Closeness) -> str:
    one, two = expected["facts"], actual["facts"]
    for name in _FACTS:
        if name not in closeness.ignored and one.get(name) != two.get(name):
            return f"{where}: {name} {_fact(two.get(name))} instead of {_fact(one.get(name))}"
    if len(expected["parts"]) != len(actual["parts"]):
        return f"{where}: {len(actual['parts'])} parts instead of {len(expected['parts'])}"
    for mine, other in zip(expected["parts"], actual["parts"], strict=True):
        if found := _parts_differ(mine, other, closeness):
            return f"{where}: {found}"
    return ""


def _fact(value: Any) -> str:
    return str(tuple(value) if isinstance(value, list) else value)


def _parts_differ(expected: torch.Tensor, actual: torch.Tensor, closeness: Closeness) -> str:
    rtol, atol = tolerance_of(expected.dtype, fused=closeness.fused)
    if expected.dtype.is_floating_point:
        finite = expected[expected.isfinite()].abs().double()
        largest = finite.max().item() if finite.numel() else 0.0
        if expected.dtype is torch.float64:  # small numbers count, too
            atol = min(atol, max(rtol * largest, _NOISE))
        atol += closeness.by_size * largest
    try:
        torch.testing.assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
    except AssertionError as error:
        return str(error).splitlines()[0]
    return ""


def same_leaf(one: Leaf, two: Leaf) -> bool:
    """Whether nothing changed: bit by bit, but for NaN."""
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return bool(one["facts"] == two["facts"]) and all(map(_same_bits, one["parts"], two["parts"]))
    return type(one) is type(two) and (one == two or (isinstance(one, float) and math.isnan(one) and math.isnan(two)))


def _same_bits(one: torch.Tensor, two: torch.Tensor) -> bool:
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    return torch.equal(*(tensor.reshape(-1).view(torch.uint8) for tensor in (one, two)))
