"""Every kind of guard that torch has: what it reads of a value, and the words for it.

What is read is kept as plain values: no reference to a tensor or a module stays behind.
"""

from __future__ import annotations

import enum
import inspect
import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch

from repro_runner.torch_seams import GlobalStateGuard, dispatch_keys

_LONGEST = 120
_MARKS = ("dynamic", "weak_dynamic", "unbacked", "strict_unbacked", "static")


@dataclass(frozen=True, slots=True)
class Fact:
    """What was read of a value: `key` is compared with a later reading, `words` are shown."""

    key: Hashable
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorFact:
    """What a guard requires of a tensor. A dimension or stride that is a symbol, given by its name, may vary."""

    python_class: str
    dtype: str
    device: str
    requires_grad: bool
    shape: tuple[int | str, ...]
    symbols: tuple[str, ...]
    strides: tuple[int | str, ...]
    free_strides: tuple[bool, ...]
    marks: tuple[str, ...]
    inference: bool
    dispatch: str
    """The keys by which torch dispatches on it: conjugated and functorch's tensors have others."""

    @property
    def words(self) -> str:
        shape = ", ".join(symbol or str(size) for symbol, size in zip(self.symbols, self.shape, strict=True))
        grad = "requires grad" if self.requires_grad else "does not require grad"
        kind = {"Tensor": "tensor", "Parameter": "parameter"}.get(self.python_class, f"{self.python_class} (a tensor)")
        marks = f", marked {' and '.join(self.marks)}" if self.marks else ""
        layout = "" if self.layout == "contiguous" else f", {self.layout}"
        article = "an" if self.dtype[0] in "aeiou" else "a"
        return f"{article} {self.dtype} {kind} of shape [{shape}] on {self.device} that {grad}{layout}{marks}"

    @property
    def layout(self) -> str:
        """How the elements are stored: `contiguous`, `transposed`, or the strides."""
        if not self.strides or not all(isinstance(size, int) for size in (*self.shape, *self.strides)):
            return "contiguous"
        sizes, strides = [int(size) for size in self.shape], [int(stride) for stride in self.strides]
        order = sorted(range(len(sizes)), key=lambda d: (-strides[d], d))
        if _dense(sizes, strides, range(len(sizes))):
            return "contiguous"
        return f"transposed to the order {order}" if _dense(sizes, strides, order) else f"with strides {strides}"


def _dense(sizes: Sequence[int], strides: Sequence[int], order: Sequence[int]) -> bool:
    """Whether the elements have no gaps if dimensions are taken in this order. A dimension of size 1 is ignored."""
    expected = 1
    for d in reversed(order):
        if sizes[d] != 1 and strides[d] != expected:
            return False
        expected *= sizes[d]
    return True


def read_tensor(tensor: torch.Tensor, sizes: Sequence[Any] = (), strides: Sequence[Any] = ()) -> TensorFact:
    """`sizes` and `strides` are those that were traced: a symbol in them is free. Never asks a symbol for its value."""
    shape = tuple(_plain(size) for size in tensor.shape)
    real = tuple(_plain(stride) for stride in tensor.stride()) if tensor.layout == torch.strided else ()
    return TensorFact(
        python_class=type(tensor).__name__,
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=str(tensor.device),
        requires_grad=tensor.requires_grad,
        shape=shape,
        symbols=tuple(_symbol(size) for size in sizes) if len(sizes) == len(shape) else ("",) * len(shape),
        strides=real,
        free_strides=tuple(bool(_symbol(each)) for each in strides)
        if len(strides) == len(real)
        else (False,) * len(real),
        marks=_marks(tensor),
        inference=tensor.is_inference(),
        dispatch=str(dispatch_keys(tensor)),
    )


def _plain(size: Any) -> int | str:
    return size if isinstance(size, int) else str(size)


def _symbol(size: Any) -> str:
    """The name of a symbol that has no value yet; empty for a number."""
    if size is None:
        return "?"
    if not isinstance(size, torch.SymInt) or size.node.maybe_as_int() is not None:
        return ""
    return str(size)


def _marks(tensor: torch.Tensor) -> tuple[str, ...]:
    """`dynamic in dimension 0`, as mark_dynamic and similar functions set it on a tensor."""
    marked = {mark: getattr(tensor, f"_dynamo_{mark}_indices", None) for mark in _MARKS}
    return tuple(f"{mark} in dimension {', '.join(map(str, sorted(d)))}" for mark, d in marked.items() if d)


def read_constant(value: Any, _keywords: Mapping[str, Any]) -> Fact:
    if isinstance(value, torch.Tensor):  # it was none when the graph was compiled; and its repr is long
        return Fact(id(value), read_tensor(value).words)
    if isinstance(value, CodeType):
        return Fact(id(value), described(value))
    return Fact((type(value).__qualname__, repr(value)), shortened(repr(value)))


def read_type(value: Any, _keywords: Mapping[str, Any]) -> Fact:
    return Fact(id(type(value)), type(value).__qualname__)


def read_identity(value: Any, _keywords: Mapping[str, Any]) -> Fact:
    return Fact(id(value), described(value))


def read_code(value: Any, _keywords: Mapping[str, Any]) -> Fact:
    """Reads only the code of a function: another function object with the same code is no change."""
    return Fact(id(value.__code__) if type(value) is FunctionType else id(value), described(value))


def read_length(value: Any, _keywords: Mapping[str, Any]) -> Fact:
    count = len(value)
    return Fact(count, "1 item" if count == 1 else f"{count or 'no'} items")


def read_keys(value: Any, _keywords: Mapping[str, Any]) -> Fact:
    keys = [repr(key) for key in value]
    return Fact(tuple(keys), f"the keys {shortened(', '.join(keys))}" if keys else "no keys")


def read_attribute(value: Any, keywords: Mapping[str, Any]) -> Fact:
    there = hasattr(value, str(keywords.get("attr")))
    return Fact(there, f"{'an' if there else 'no'} attribute {keywords.get('attr')}")


def read_own_attribute(value: Any, keywords: Mapping[str, Any]) -> Fact:
    there = keywords.get("attr") in vars(value)
    return Fact(there, f"{'an' if there else 'no'} attribute {keywords.get('attr')} of its own")


def read_membership(value: Any, keywords: Mapping[str, Any]) -> Fact:
    there = keywords.get("key") in value
    return Fact(there, f"{keywords.get('key')!r} in it" if there else f"no {keywords.get('key')!r} in it")


def read_presence(value: Any, _keywords: Mapping[str, Any]) -> Fact:
    return Fact(value is not None, "alive" if value is not None else "gone")


def described(value: Any) -> str:
    """A function by its place, a module by its name, anything else by its class."""
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    if inspect.isclass(value):
        return f"class {value.__qualname__}"
    code = value if isinstance(value, CodeType) else getattr(value, "__code__", None)
    if isinstance(code, CodeType):
        return f"function {code.co_name} ({Path(code.co_filename).name}:{code.co_firstlineno})"
    if callable(value) and hasattr(value, "__name__"):
        return f"function {value.__name__}"
    if isinstance(value, enum.Enum):
        return str(value)
    return f"object of class {type(value).__qualname__}"


def shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


_STATE_WORDS = {
    "grad_mode": "grad mode",
    "num_threads": "number of threads",
    "default_dtype": "default dtype",
    "deterministic_algorithms": "deterministic algorithms",
    "torch_function": "overrides of torch's functions",
    "autocast_state.enabled": "autocast",
    "autocast_state.dtype": "dtypes of autocast",
    "autocast_state.cached_enabled": "autocast's cache",
}
_IN_SUMMARY = ("grad_mode", "autocast_state.enabled", "num_threads", "deterministic_algorithms")
"""The parts that a summary names; the others are only compared."""


def read_state(state: Mapping[str, Any]) -> Fact:
    """From the mapping that torch keeps: {"grad_mode": true, …}."""
    flat = dict(_flattened(state))
    summary = [f"{_STATE_WORDS[key]} {_on_or_off(flat[key])}" for key in _IN_SUMMARY if key in flat]
    return Fact(tuple(sorted((key, _on_or_off(value)) for key, value in flat.items())), ", ".join(summary))


def current_state() -> Fact:
    """The state of the process now."""
    guard: Any = GlobalStateGuard()
    return read_state(json.loads(guard.__getstate__()))


def state_differences(before: Fact, after: Fact) -> Iterator[tuple[str, str, str]]:
    """(what, was, now) for each part that is no longer the same."""
    assert isinstance(before.key, tuple) and isinstance(after.key, tuple)
    earlier, later = dict(before.key), dict(after.key)
    for key in sorted(earlier.keys() | later.keys()):
        if earlier.get(key) != later.get(key):
            words = _STATE_WORDS.get(key, key.replace("_", " "))
            yield words, earlier.get(key, "not there"), later.get(key, "not there")


def _flattened(state: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in state.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _on_or_off(value: Any) -> str:
    """`on` and `off`; a list, one entry per device, is on if any of them is."""
    if isinstance(value, list) and value and all(isinstance(each, bool) for each in value):
        return "on" if any(value) else "off"
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


Read = Callable[[Any, Mapping[str, Any]], Fact]


@dataclass(frozen=True, slots=True)
class Kind:
    """How a kind of guard is read and put into words. `words` may contain `{name}` and `{fact}`."""

    aspect: str
    """What changes when the guard fails: the value, the type, the length …; `state` is the process's, not a value's."""
    words: str
    read: Read | None = None


TENSOR = "TENSOR_MATCH"
SHAPES = "SHAPE_ENV"
SAME_OBJECT = "DUPLICATE_INPUT"
GLOBAL_STATE = "GLOBAL_STATE"

_VALUE = Kind("value", "{name} is {fact}", read_constant)
_IDENTITY = Kind("identity", "{name} is the same {fact}", read_identity)
_TYPE = Kind("type", "{name} is of type {fact}", read_type)
_LENGTH = Kind("length", "{name} has {fact}", read_length)
_KEYS = Kind("keys", "{name} has {fact}", read_keys)
_MEMBERSHIP = Kind("membership", "{name} has {fact}", read_membership)
_ALIVE = Kind("presence", "{name} is {fact}", read_presence)

KINDS: Mapping[str, Kind] = {
    TENSOR: Kind("tensor", "{name} is {fact}"),
    SHAPES: Kind("relation", "sizes relate as they did"),
    SAME_OBJECT: Kind("aliasing", "{other} and {name} are the same object"),
    "CONSTANT_MATCH": _VALUE,
    "CONSTANT_SUBCLASS_MATCH": _VALUE,
    "EQUALS_MATCH": _VALUE,
    "BOOL_MATCH": _VALUE,
    "NONE_MATCH": _VALUE,
    "ID_MATCH": _IDENTITY,
    "NN_MODULE": _IDENTITY,
    "FUNCTION_MATCH": _IDENTITY,
    "BUILTIN_MATCH": _IDENTITY,
    "CLASS_MATCH": _IDENTITY,
    "MODULE_MATCH": _IDENTITY,
    "CLOSURE_MATCH": Kind("identity", "{name} has the code of {fact}", read_code),
    "TYPE_MATCH": _TYPE,
    "FAKE_SCRIPT_TYPE_MATCH": _TYPE,
    "SEQUENCE_LENGTH": _LENGTH,
    "EMPTY_NN_MODULE_HOOKS_DICT": _LENGTH,
    "TUPLE_ITERATOR_LEN": Kind("length", "as many items are left in {name}"),
    "RANGE_ITERATOR_MATCH": Kind("value", "{name} goes over the same range"),
    "COUNT_ITERATOR_MATCH": Kind("value", "{name} counts from the same number in the same steps"),
    "DICT_KEYS_MATCH": _KEYS,
    "MAPPING_KEYS_CHECK": _KEYS,
    "DICT_VERSION": Kind("keys", "{name} was not written to"),
    "DICT_CONTAINS": _MEMBERSHIP,
    "DICT_NOT_CONTAINS": _MEMBERSHIP,
    "SET_CONTAINS": _MEMBERSHIP,
    "SET_NOT_CONTAINS": _MEMBERSHIP,
    "HASATTR": Kind("attribute", "{name} has {fact}", read_attribute),
    "NOT_PRESENT_IN_GENERIC_DICT": Kind("attribute", "{name} has {fact}", read_own_attribute),
    "NOT_NONE_MATCH": Kind("presence", "{name} is not None", read_presence),
    "WEAKREF_ALIVE": _ALIVE,
    "DISPATCH_KEY_SET_MATCH": Kind("dispatch", "{name} has the same dispatch keys"),
    "TENSOR_SUBCLASS_METADATA_MATCH": Kind("metadata", "what {name} tells of itself beside its tensors is the same"),
    "DTENSOR_SPEC_MATCH": Kind("metadata", "{name} is spread over the same devices in the same way"),
    "OPAQUE_OBJ_GUARD_FN_MATCH": Kind("metadata", "what the guard function of {name} returns is the same"),
    GLOBAL_STATE: Kind("state", "torch's global state: {fact}"),
    "GRAD_MODE": Kind("state", "grad mode is as it was"),
    "DETERMINISTIC_ALGORITHMS": Kind("state", "torch.use_deterministic_algorithms is as it was"),
    "FSDP_TRAINING_STATE": Kind("state", "the training state of FSDP is as it was"),
    "TORCH_FUNCTION_STATE": Kind("state", "the modes that override torch's functions are as they were"),
    "DEFAULT_DEVICE": Kind("state", "the default device is as it was"),
    "DUAL_LEVEL": Kind("state", "forward-mode differentiation is at the same level"),
    "FUNCTORCH_STACK_MATCH": Kind("state", "the transforms around it (vmap, grad …) are the same"),
    "AUTOGRAD_SAVED_TENSORS_HOOKS": Kind("state", "the hooks on tensors saved for backward are the same"),
}
"""A guard of another kind (of another release) is shown as its code."""
