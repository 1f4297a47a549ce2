"""Every kind of guard that torch has: what it reads, and how it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from repro_runner.guards import facts
from repro_runner.guards.facts import Fact

Read = Callable[[Any, Mapping[str, Any]], Fact]


@dataclass(frozen=True, slots=True)
class Kind:
    """`words` has `{name}` and `{fact}` in it, as many of them as it needs."""

    aspect: str
    """What changes when the guard fails: the value, the type, the length …; `state` is the process's, not a value's."""
    words: str
    read: Read | None = None


TENSOR = "TENSOR_MATCH"
SHAPES = "SHAPE_ENV"
SAME_OBJECT = "DUPLICATE_INPUT"
GLOBAL_STATE = "GLOBAL_STATE"

_VALUE = Kind("value", "{name} is {fact}", facts.read_constant)
_IDENTITY = Kind("identity", "{name} is the same {fact}", facts.read_identity)
_TYPE = Kind("type", "{name} is of type {fact}", facts.read_type)
_LENGTH = Kind("length", "{name} has {fact}", facts.read_length)
_KEYS = Kind("keys", "{name} has {fact}", facts.read_keys)
_MEMBERSHIP = Kind("membership", "{name} has {fact}", facts.read_membership)
_ALIVE = Kind("presence", "{name} is {fact}", facts.read_presence)

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
    "CLOSURE_MATCH": Kind("identity", "{name} has the code of {fact}", facts.read_code),
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
    "HASATTR": Kind("attribute", "{name} has {fact}", facts.read_attribute),
    "NOT_PRESENT_IN_GENERIC_DICT": Kind("attribute", "{name} has {fact}", facts.read_own_attribute),
    "NOT_NONE_MATCH": Kind("presence", "{name} is not None", facts.read_presence),
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
"""A kind of another release than these has the text of its code for words."""
