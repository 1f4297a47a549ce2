"""Values that programs take and return: tolerances, a walk through nested values, and copies.

Everything that compares a compiled program with eager uses the tolerances in this module. It needs only torch and the
standard library.
"""

from __future__ import annotations

import copy
import dataclasses
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import torch
from torch.nn import Parameter

from repro_runner.torch_seams import FakeTensor, neg_view


class Tolerance(NamedTuple):
    """Two numbers are close if |actual - expected| <= atol + rtol * |expected|."""

    rtol: float
    atol: float


_EXACT = Tolerance(0.0, 0.0)
_DOUBLE = (Tolerance(1e-7, 1e-7), Tolerance(1e-6, 1e-6))
_SINGLE = (Tolerance(1.3e-6, 1e-5), Tolerance(1.3e-5, 1e-4))
_HALF = (Tolerance(1e-3, 1e-5), Tolerance(4e-3, 1e-3))

TOLERANCES = {
    torch.float16: _HALF,
    torch.bfloat16: (Tolerance(1.6e-2, 1e-5), Tolerance(3.2e-2, 1e-2)),
    torch.float32: _SINGLE,
    torch.float64: _DOUBLE,
    torch.complex32: _HALF,
    torch.complex64: _SINGLE,
    torch.complex128: _DOUBLE,
}
"""By dtype: (torch.testing's tolerance, a looser one for generated code, which may fuse ops in another way)."""

# These dtypes hold powers of two, or two numbers packed in a byte. They are not rounded in a last digit.
_NO_LAST_PLACE = {getattr(torch, name, None) for name in ("float8_e8m0fnu", "float4_e2m1fn_x2")}


def is_inexact(dtype: torch.dtype) -> bool:
    """Whether numbers of this dtype are rounded, so that a tolerance makes sense."""
    return (dtype.is_floating_point or dtype.is_complex) and dtype not in _NO_LAST_PLACE


def tolerance_of(dtype: torch.dtype, *, fused: bool = False) -> Tolerance:
    """The tolerance for a dtype: exact for integers and bool, one unit in the last place for float8.

    `fused` takes the looser tolerance for generated code.
    """
    if dtype in TOLERANCES:
        return TOLERANCES[dtype][fused]
    if not is_inexact(dtype) or dtype.itemsize > 1:
        return _EXACT
    # Computed from the bits of the dtype: torch.finfo has a wrong eps for one of the float8 dtypes.
    one = torch.ones(1).to(dtype).view(torch.uint8)
    smallest, after_one = torch.cat([torch.ones_like(one), one + 1]).view(dtype).to(torch.float64).tolist()
    return Tolerance(after_one - 1.0, smallest)


def describe_tolerances(*, fused: bool) -> str:
    """Describe the tolerances in a phrase for a report."""
    if not fused:
        return "torch.testing.assert_close's own tolerances"
    described = (
        f"{str(dtype).removeprefix('torch.')} {loose.rtol:g} and {loose.atol:g}"
        for dtype, (_, loose) in TOLERANCES.items()
        if dtype.is_floating_point
    )
    return f"relative and absolute tolerances for generated code: {', '.join(described)}"


Path = tuple[str, ...]
Flat = dict[Path, Any]
"""A leaf, or a Container, by its path: `("output", ".logits", "[0]")`."""

_LEAVES = (torch.Tensor, str, bytes, bool, int, float, complex, type(None), Enum, Iterator)
_NO_RECORDS = (type, types.ModuleType, types.FunctionType, types.MethodType)
"""Types whose attributes are not results of a program, so they are not walked through."""


@dataclass(frozen=True, slots=True)
class Container:
    """A value that holds other values: the name of its class, and the names of the values inside."""

    kind: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind} of {', '.join(self.names) or 'nothing'}"


def flatten(value: Any, name: str, keep: Callable[[torch.Tensor], Any] = torch.Tensor.detach) -> Flat:
    """Map the path of every container and leaf under `value`, in order. `keep` maps each tensor and numpy array."""
    found: Flat = {}
    _descend(value, (name,), found, keep, within=())
    return found


def _descend(value: Any, path: Path, found: Flat, keep: Callable[[torch.Tensor], Any], within: tuple[int, ...]) -> None:
    value = torch.as_tensor(value) if is_array(value) else value
    inside = children(value)
    if inside is None:
        found[path] = keep(value) if isinstance(value, torch.Tensor) else value
        return
    if id(value) in within:
        found[path] = Container(type(value).__name__, ("itself",))
        return
    found[path] = Container(type(value).__name__, tuple(suffix for suffix, _ in inside))
    for suffix, child in inside:
        _descend(child, (*path, suffix), found, keep, (*within, id(value)))


def children(value: Any) -> list[tuple[str, Any]] | None:
    """The (suffix, value) pairs inside a container, such as `("[0]", …)` or `(".weight", …)`; None for a leaf."""
    if isinstance(value, _LEAVES):
        return None
    if isinstance(value, torch.nn.Module) and "_parameters" in vars(value):  # its own __init__ was called
        return [(f".{name}", each) for name, each in (*value.named_parameters(), *value.named_buffers())]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):  # so are the outputs of Hugging Face's models
        return [(f".{each.name}", getattr(value, each.name, None)) for each in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [(f".{name}", each) for name, each in zip(value._fields, value, strict=True)]
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", each) for key, each in value.items()]
    if isinstance(value, set | frozenset) and all(isinstance(each, str | int) for each in value):
        value = sorted(value, key=repr)
    if isinstance(value, list | tuple | deque):
        return [(f"[{place}]", each) for place, each in enumerate(value)]
    if isinstance(getattr(value, "__dict__", None), dict) and not isinstance(value, _NO_RECORDS):
        return [(f".{name}", each) for name, each in vars(value).items()]
    return None


def is_array(value: Any) -> bool:
    """Whether this is a numpy array or scalar of numbers, and not of texts or objects."""
    return type(value).__module__ == "numpy" and getattr(getattr(value, "dtype", None), "kind", "?") in "biufc"


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Every tensor inside of a value, in order."""
    return [leaf for leaf in flatten(value, "", keep=lambda tensor: tensor).values() if isinstance(leaf, torch.Tensor)]


def map_tensors(value: Any, change: Callable[[Any, str], Any], place: str) -> Any:
    """A value with all tensors and modules in lists, tuples and dictionaries changed. `change` is told the place."""
    if isinstance(value, torch.Tensor | torch.nn.Module):
        return change(value, place)
    if isinstance(value, dict):
        for key, item in value.items():
            value[key] = map_tensors(item, change, f"{place}[{key!r}]")  # in place, which keeps a subclass of dict
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(item, change, f"{place}[{at}]") for at, item in enumerate(value)))
    if type(value) in (list, tuple):
        return type(value)(map_tensors(item, change, f"{place}[{at}]") for at, item in enumerate(value))
    return value


def copies_of(tensors: Iterable[torch.Tensor]) -> dict[int, Any]:
    """Copies by the id of the tensor: a memo for `copy.deepcopy`. They are leaves of the same class, with the same
    strides, conj and neg bits and requires_grad, and share memory as the tensors do."""
    memo: dict[int, Any] = {}
    for tensor in tensors:
        if id(tensor) not in memo:
            memo[id(tensor)] = _copied_strided(tensor, memo) if is_strided(tensor) else _copied_otherwise(tensor, memo)
    return memo


def is_strided(tensor: torch.Tensor) -> bool:
    """Whether it is a piece of memory and nothing more, where torch itself manages the memory."""
    return (
        type(tensor) in (torch.Tensor, Parameter)
        and tensor.layout == torch.strided
        and tensor.device.type in ("cpu", "cuda")
        and not (tensor.is_quantized or tensor.is_nested)
    )


def _copied_strided(tensor: torch.Tensor, memo: dict[int, Any]) -> torch.Tensor:
    # The memory is copied whole, even for a slice: `as_strided` can reach all of it. torch notes its copies of storages
    # in the memo, too, so that a tensor that only deepcopy finds shares memory with these.
    storage = copy.deepcopy(tensor.untyped_storage(), memo)
    copied = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    copied.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())
    copied = with_bits_of(tensor, copied)
    copied = Parameter(copied, tensor.requires_grad) if isinstance(tensor, Parameter) else copied
    return copied.requires_grad_(tensor.requires_grad)


def with_bits_of(tensor: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
    """A view of the memory that is conjugated and negated lazily, as the tensor is."""
    memory = memory.conj() if tensor.is_conj() else memory
    return neg_view(memory) if tensor.is_neg() else memory


def _copied_otherwise(tensor: torch.Tensor, memo: dict[int, Any]) -> torch.Tensor:
    # deepcopy keeps the class, but gives a jagged tensor sizes of its own, and a fake one a mode of its own.
    copied: torch.Tensor = (
        copy.deepcopy(tensor, memo)
        if isinstance(tensor, Parameter) and not isinstance(tensor, FakeTensor)
        else tensor.detach().clone()
    )
    # Not asked of one that has it already: a parameter that has no size yet allows nothing.
    return copied if copied.requires_grad == tensor.requires_grad else copied.requires_grad_()


def unlike_properties(
    expected: torch.Tensor, actual: torch.Tensor, names: tuple[str, ...]
) -> Iterator[tuple[str, Any, Any]]:
    """Yield (name, expected, actual) for every named property in which two tensors differ. `stride` is compared only
    where both tensors have strides."""
    strided = expected.layout == actual.layout == torch.strided
    for name in names:
        if name == "stride":
            one, two = (tensor.stride() if strided else None for tensor in (expected, actual))
        else:
            one, two = getattr(expected, name), getattr(actual, name)
        if one != two:
            yield name, one, two
