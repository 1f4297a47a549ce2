"""Everything that a program holds, as data: walked from its modules, its inputs and its result."""

from __future__ import annotations

import collections
import contextvars
import functools
import inspect
import io
import itertools
import logging
import operator
import os
import random
import re
import sys
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import torch

from repro_runner.judge import SAVED
from repro_runner.judge.leaves import PLAIN, Flat, Room, described, leaf_of
from repro_runner.values import is_array

_DEEPEST = 60
_MOST = 50_000
"""No more values are walked of what is added at once."""
_LONGEST = 1000
"""A longer container of plain values is kept as one: numbers as a tensor, others as a text."""
_OF_TORCH = (
    *("__", "_torchdynamo", "_dynamo", "_has_dynamo", "_compiled_call_impl", "_forward_pre_hooks", "_call_impl"),
    *("_backward_hooks", "_backward_pre_hooks", "_specialize_on", "fake_device"),
)
"""How names begin that Python, Dynamo and torch's modules keep for themselves, and that say nothing of a program."""
_MEMBERS = ("_parameters", "_buffers", "_modules")
_SHARED = (tuple, frozenset, type, types.BuiltinFunctionType, torch.dtype, torch.device, range, slice, Enum, re.Pattern)
"""What can't be changed: whether two places hold the same object is nobody's business."""
_INNER = ("torch._", "torch.library", "torch.fx", "torch.jit", "torch.utils.hooks", "triton.")
"""Modules whose objects hold nothing of a program's: an operator has caches of its own, and so has a Triton kernel."""
_WRAPS = tuple(f"{Path(file).parent}{os.sep}" for file in (torch.__file__, Path(__file__).parent))
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType, functools.partial)


class Walk:
    """Walks through values, each object once: met again, it is the same as at its first place."""

    def __init__(self, own_modules: frozenset[str], room: Room) -> None:
        """`own_modules` are the names of the program's modules: only their classes and functions are walked into."""
        self.flat: Flat = {}
        self.memory: dict[str, int] = {}
        """Path of a tensor -> where its memory begins."""
        self._own, self.room = own_modules, room
        self._seen: dict[int, str] = {}
        self._begun = 0
        self._alive: list[Any] = []  # what is made while walking must not give its id to something else
        self._walkers: tuple[tuple[Any, Callable[[Any, str], Iterator[tuple[str, Any]]]], ...] = (
            (types.MethodType, lambda one, path: iter([(f"{path}.__self__", one.__self__)])),
            (functools.partial, _inside_partial),
            (types.FunctionType, self._inside_function),
            (types.GeneratorType, _inside_generator),
            (torch.nn.Module, _inside_module),
            (torch.Tensor, _inside_tensor),
            (Mapping, _inside_mapping),
            (
                list | tuple | collections.deque,
                lambda one, path: ((f"{path}[{at}]", each) for at, each in enumerate(one)),
            ),
            (set | frozenset, lambda one, path: ((f"{path}{{{at}}}", each) for at, each in enumerate(_sorted(one)))),
            (weakref.ref, lambda one, path: iter([(f"{path}()", one())])),
            (type, self._inside_class),
        )

    def add(self, value: Any, path: str, depth: int = 0) -> None:
        """Walk a value; what it holds is at paths that begin with `path`."""
        if depth == 0:  # a large table of the program must not use up the room of its result
            self._begun = len(self.flat)
        if len(self.flat) - self._begun >= _MOST or depth > _DEEPEST:
            self.room.left_out += 1
            return
        try:
            self._add(value, path, depth)
        except Exception as error:  # noqa: BLE001 - its class may be the program's own, and do anything when it is read
            self.flat[f"{path}, which can't be read"] = described(type(error).__name__)
            self.room.left_out += 1

    def _add(self, value: Any, path: str, depth: int) -> None:
        if type(value) in PLAIN or isinstance(value, types.ModuleType):
            self.flat[path] = described(f"module {value.__name__}") if isinstance(value, types.ModuleType) else value
            return
        if not isinstance(value, _SHARED):
            if (first := self._seen.get(id(value))) is not None:
                self.flat[path] = ("same", first)
                return
            self._seen[id(value)] = path
            self._alive.append(value)
        if torch.nn.parameter.is_lazy(value):
            self.flat[path] = described(f"{type(value).__qualname__} without a shape")
            return
        self.flat[path] = self._leaf(value)
        if isinstance(value, torch.Tensor) and (home := memory_of(value)):
            self.memory[path] = home
        if isinstance(value, list | tuple) and len(value) > _LONGEST and all(type(each) in PLAIN for each in value):
            self.flat[f"{path}[…]"] = _at_once(value, self.room)
            return
        for place, inside in self._inside(value, path):
            self.add(inside, place, depth + 1)

    def has(self, value: Any) -> bool:
        """Whether this object was walked already."""
        return id(value) in self._seen

    def _leaf(self, value: Any) -> Any:
        """What is known of the object itself."""
        if isinstance(value, torch.Tensor) or is_array(value):
            return leaf_of(value, self.room)
        if isinstance(value, _CODE):
            return described(_name_of(value))
        if isinstance(value, type):
            return described(f"class {value.__qualname__}")
        if isinstance(value, types.GeneratorType):
            return described(f"generator at {value.gi_frame.f_lasti}" if value.gi_frame else "finished generator")
        if (text := _text_of(value)) is not None:  # before the others: a StringIO is an iterator, a range has a length
            return described(f"{type(value).__qualname__} {text}")
        if isinstance(value, Iterator):
            return described(_position(value))
        if (size := _size_of(value)) is not None and not isinstance(value, PLAIN):
            names = getattr(value, "_fields", ()) if isinstance(value, tuple) else ()
            return described(" ".join([f"{type(value).__qualname__} of {size}", *map(str, names)]))
        return leaf_of(value, self.room)

    def _inside(self, value: Any, path: str) -> Iterator[tuple[str, Any]]:
        """(path, value) of what the object holds."""
        for kind, walker in self._walkers:
            if isinstance(value, kind):
                yield from walker(value, path)
                if kind in (type, types.FunctionType, torch.nn.Module):
                    return
        if isinstance(value, Iterator) and not isinstance(value, types.GeneratorType):
            yield from _inside_iterator(value, path)
        if type(value).__module__.startswith(_INNER):
            return
        if isinstance(value, logging.Logger):  # its attributes lead to all loggers of the process
            yield from ((f"{path}.{name}", getattr(value, name)) for name in ("level", "disabled", "propagate"))
            return
        held = getattr(value, "__dict__", None)
        if isinstance(held, dict) and not isinstance(value, types.MethodType):
            yield from ((f"{path}.{name}", each) for name, each in list(held.items()) if is_own(name))
        for kind in type(value).__mro__:
            slots = kind.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else tuple(slots):
                if is_own(name) and hasattr(value, name):
                    yield f"{path}.{name}", getattr(value, name)

    def _inside_function(self, function: types.FunctionType, path: str) -> Iterator[tuple[str, Any]]:
        """What a function of the program keeps: attributes, default arguments, closure."""
        while function.__code__.co_filename.startswith(_WRAPS) and hasattr(function, "__wrapped__"):
            function = function.__wrapped__  # what torch, or who records it, put around a function
            if not isinstance(function, types.FunctionType):
                yield f"{path}.__wrapped__", function
                return
        if function.__module__ not in self._own:
            return
        for at, default in enumerate(function.__defaults__ or ()):
            yield f"{path}'s default argument {at + 1}", default
        for name, default in (function.__kwdefaults__ or {}).items():
            yield f"{path}'s default argument {name}", default
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            yield f"{path}'s variable {name}", _content(cell)
        yield from ((f"{path}.{name}", each) for name, each in vars(function).items() if is_own(name))

    def _inside_class(self, kind: type, path: str) -> Iterator[tuple[str, Any]]:
        if kind.__module__ in self._own:
            for name, each in list(vars(kind).items()):
                inner = getattr(each, "__func__", getattr(each, "fget", each))  # of a class method or a property
                if is_own(name) or isinstance(inner, types.FunctionType):
                    yield f"{path}.{name}", inner


def flat_of(value: Any, *modules: str) -> Flat:
    """What a result of a program with these modules is now, and all that it holds."""
    walk = Walk(frozenset(modules), Room())
    walk.add(value, "result")
    return walk.flat


def _name_of(function: Any) -> str:
    """The name of a function; what it holds is walked. Names that Python or Dynamo makes differ from run to run."""
    name = str(getattr(inspect.unwrap(getattr(function, "__func__", function)), "__name__", "<"))
    return "a function" if "<" in name or "dynamo" in name else f"the function {name}"


def _size_of(value: Any) -> int | None:
    try:
        return len(value)
    except Exception:  # noqa: BLE001 - its class may be the program's own
        return None


def _at_once(values: Any, room: Room) -> Any:
    if all(type(each) is float for each in values):
        return leaf_of(torch.tensor(values, dtype=torch.get_default_dtype()), room)
    return described(repr(values))


def is_own(name: object) -> bool:
    """Whether a name is the program's own, and not one that Python or torch made."""
    return isinstance(name, str) and not name.startswith(_OF_TORCH)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None  # not yet bound


def _inside_partial(value: functools.partial[Any], path: str) -> Iterator[tuple[str, Any]]:
    yield f"{path}.func", value.func
    yield from ((f"{path}.args[{at}]", each) for at, each in enumerate(value.args))
    yield from ((f"{path}.keywords[{name!r}]", each) for name, each in value.keywords.items())


def _inside_generator(value: types.GeneratorType[Any, Any, Any], path: str) -> Iterator[tuple[str, Any]]:
    if value.gi_frame:
        yield from ((f"{path}'s variable {name}", each) for name, each in value.gi_frame.f_locals.items())


def _inside_module(module: torch.nn.Module, path: str) -> Iterator[tuple[str, Any]]:
    for name, each in vars(module).items():
        if name in _MEMBERS:  # of TorchScript, an attribute has what is in no `__dict__`
            yield from ((f"{path}.{inner}", one) for inner, one in getattr(module, name).items())
        elif name == "_non_persistent_buffers_set":
            yield from ((f"{path}.{inner}{SAVED}", inner not in each) for inner, _ in module._buffers.items())
        elif is_own(name) and not (isinstance(each, dict) and not each and name.startswith("_")):
            yield f"{path}.{name}", each


def _inside_tensor(tensor: torch.Tensor, path: str) -> Iterator[tuple[str, Any]]:
    if tensor.is_leaf and tensor.requires_grad and tensor.grad is not None:
        yield f"{path}.grad", tensor.grad


def _inside_mapping(value: Mapping[Any, Any], path: str) -> Iterator[tuple[str, Any]]:
    for at, (key, each) in enumerate(list(value.items())):
        if isinstance(key, str | int | float | bool | type(None)):
            yield f"{path}[{key!r}]", each
        else:
            yield f"{path}'s key {at + 1}", key
            yield f"{path}'s value {at + 1}", each
    yield f"{path}'s order", ", ".join(repr(key) for key in value if isinstance(key, str | int | float | bool))


def _inside_iterator(value: Iterator[Any], path: str) -> Iterator[tuple[str, Any]]:
    """What an iterator goes through: Python tells it to whoever copies it."""
    try:
        state = value.__reduce__()
    except Exception:  # noqa: BLE001 - it can't be copied, and its class may be the program's own
        return
    parts = state[1:] if isinstance(state, tuple) else ()
    if _is_built_in(value) and parts and isinstance(parts[0], tuple) and type(parts[0][0]) in (list, tuple):
        left = parts[0][0][parts[1] if len(parts) > 1 else 0 :]
        yield from ((f"{path}'s item {at + 1}", each) for at, each in enumerate(left))
        return
    yield from ((f"{path}'s part {at + 1}", part) for at, part in enumerate(parts) if isinstance(part, tuple))


def _is_built_in(value: Iterator[Any]) -> bool:
    """Whether it is one over a list, a tuple, a dict or a set. Dynamo makes one of another kind for it."""
    return type(value).__module__ == "builtins" and type(value).__name__.endswith("iterator")


def _position(value: Iterator[Any]) -> str:
    name = "iterator" if _is_built_in(value) else type(value).__qualname__
    text = f"{name} with {operator.length_hint(value, -1)} left"
    return repr(value) if isinstance(value, itertools.count | itertools.repeat) else text


def _sorted(values: Any) -> list[Any]:
    return sorted(values, key=lambda each: re.sub(r"0x[0-9a-f]+", "", repr(each)))


def _text_of(value: Any) -> str | None:
    """The state of an object that keeps it inside of C."""
    if isinstance(value, random.Random):
        return str(hash(value.getstate()))
    if isinstance(value, torch.Generator):
        return str(hash(value.get_state().numpy().tobytes()))
    if isinstance(value, io.StringIO | io.BytesIO):
        return "closed" if value.closed else repr(value.getvalue())
    if isinstance(value, io.IOBase):
        return "closed" if value.closed else f"open at {value.tell() if value.seekable() else 'its end'}"
    if isinstance(value, contextvars.ContextVar):
        return repr(contextvars.copy_context().get(value, "not set"))
    if isinstance(value, BaseException):
        return str(value)
    if isinstance(value, memoryview):
        return repr(value.tobytes())
    if type(value).__module__ == "numpy" and hasattr(value, "tolist") and not isinstance(value, PLAIN):
        return repr(value.tolist())  # of texts, dates or objects
    if type(value).__module__.startswith("numpy.random"):
        bits = getattr(value, "bit_generator", getattr(value, "_bit_generator", value))
        return repr(getattr(bits, "state", None))
    known = isinstance(value, torch.dtype | torch.device | range | slice | re.Pattern | bytearray)
    if known or (type(value).__module__ in _WITH_TEXT and not hasattr(value, "__dict__")):
        return repr(value)
    is_lock = type(value).__module__ == "_thread" and hasattr(value, "locked")
    return "locked" if is_lock and value.locked() else None


_WITH_TEXT = {"datetime", "decimal", "fractions", "uuid", "array", "pathlib", "ipaddress"}
"""Modules whose objects tell all of themselves by `repr`."""


def memory_of(tensor: torch.Tensor) -> int:
    """Where the memory of a tensor begins; 0 if it has none of its own, as a sparse one."""
    try:
        return tensor.untyped_storage().data_ptr()
    except (NotImplementedError, RuntimeError):
        return 0


def shared_memory(memory: Mapping[str, int]) -> list[str]:
    """`result[0] and inputs[1]`: which tensors lie in the memory of which others, each with the first of them."""
    homes: dict[int, str] = {}
    pairs = []
    for path, home in memory.items():
        if (first := homes.setdefault(home, path)) != path:
            pairs.append(f"{path} and {first}")
    return sorted(pairs)


def program_modules(folder: str) -> dict[str, types.ModuleType]:
    """The modules of the program, by name: `__main__`, and what was imported from below its folder."""
    own = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if name == "__main__" or (file.startswith(f"{folder}/") and "site-packages" not in file):
            own[name] = module
    return own
