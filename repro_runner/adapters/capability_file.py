"""A device described in YAML, with no Python. `example_device.yml` beside this file explains every key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
import yaml

from repro_runner.adapters.capabilities import AcceleratorCapabilities, OpRule
from repro_runner.adapters.limits import CORE_ATEN
from repro_runner.adapters.marked_yaml import MarkedYaml, did_you_mean
from repro_runner.constraints import LayoutConstraint
from repro_runner.constraints.narrowing import read_narrowing
from repro_runner.constraints.op_names import read_op_names

_LIMITS = ("dtypes", "alignment", "layouts", "largest_tensor")
# As compilers and data sheets call them.
_SHORT_DTYPE = re.compile(r"(?P<kind>fp|bf|f|i|s|u)(?P<bits>\d+)")
_LONG = {"fp": "float", "f": "float", "bf": "bfloat", "i": "int", "s": "int", "u": "uint"}

_Reader = Callable[[yaml.Node, str], Any]


def read_capabilities(path: Path | str) -> AcceleratorCapabilities:
    """The device that a file describes; InvalidInput lists everything that is wrong with it, as `file:line: …`."""
    return _CapabilityFile(Path(path)).capabilities()


class _CapabilityFile(MarkedYaml):
    def capabilities(self) -> AcceleratorCapabilities:
        readers: dict[str, tuple[str, _Reader]] = {
            "name": ("name", self.text),
            "dtypes": ("supported_dtypes", self._dtypes),
            "ops": ("supported_ops", self._supported_ops),
            "unsupported_ops": ("unsupported_ops", self._ops),
            "memory": ("max_memory_bytes", self.size),
            "largest_tensor": ("max_tensor_bytes", self.size),
            "alignment": ("alignment_requirement", self._alignment),
            "layouts": ("layouts", self._layouts),
            "dynamic_shapes": ("supports_dynamic_shapes", self.flag),
            "rules": ("rules", self._rules),
        }
        root = self.root()
        keys = {} if root is None else self.mapping(root, tuple(readers))
        fields = _fields(keys, readers)
        self.raise_problems()
        return AcceleratorCapabilities(**{"name": self.path.stem, **fields})

    def _rules(self, node: yaml.Node, key: str) -> tuple[OpRule, ...]:
        return tuple(rule for entry in self.entries(node, key) if (rule := self._rule(entry)) is not None)

    def _rule(self, node: yaml.Node) -> OpRule | None:
        readers: dict[str, tuple[str, _Reader]] = {
            "ops": ("ops", self._ops),
            "arguments": ("arguments", lambda node, _: self.entries(node, "arguments")),
            "dims": ("dims", self._dims),
            "dtypes": ("dtypes", self._dtypes),
            "alignment": ("alignment", self._alignment),
            "layouts": ("layouts", self._layouts),
            "largest_tensor": ("max_tensor_bytes", self.size),
        }
        keys = self.mapping(node, tuple(readers))
        if keys and "ops" not in keys:
            self.complain(node, "a rule without ops; name some, or set the limit for the whole device")
        if keys and keys.keys().isdisjoint(_LIMITS):
            self.complain(node, f"a rule without a limit; give one or more of {', '.join(_LIMITS)}")
        if "dims" in keys and "alignment" not in keys:
            self.complain(keys["dims"], "dims: belong to an alignment; add one to this rule")
        fields = _fields(keys, readers)
        if not (ops := fields.get("ops")):
            return None
        if "arguments" in fields:
            fields["arguments"] = self._arguments(fields["arguments"], ops)
        return OpRule(**fields)

    def _supported_ops(self, node: yaml.Node, key: str) -> tuple[str, ...]:
        return self._ops(node, key, core_aten=True)

    def _ops(self, node: yaml.Node, key: str, *, core_aten: bool = False) -> tuple[str, ...]:
        names = []
        for entry in self.entries(node, key):
            if (name := self.text(entry, key)) is None:
                continue
            if name == CORE_ATEN and not core_aten:
                self.complain(entry, f"{key}: {name} is for the list of ops that the device has; name each op here")
            elif name != CORE_ATEN and (problem := _op_problem(name)):
                self.complain(entry, f"{key}: {problem}")
            else:
                names.append(name)
        return tuple(names)

    def _arguments(self, entries: list[yaml.Node], ops: tuple[str, ...]) -> tuple[str | int, ...]:
        found: list[str | int] = []
        for entry in entries:
            is_position = isinstance(entry, yaml.ScalarNode) and entry.value.isdecimal()
            reader = self.number if is_position else self.text
            if (argument := reader(entry, "arguments")) is None:
                continue
            try:
                read_narrowing(ops, [argument])
            except ValueError as error:
                self.complain(entry, str(error))
            found.append(argument)
        return tuple(found)

    def _dims(self, node: yaml.Node, key: str) -> tuple[int, ...]:
        return tuple(dim for entry in self.entries(node, key) if (dim := self.number(entry, key)) is not None)

    def _alignment(self, node: yaml.Node, key: str) -> int | None:
        return self.number(node, key, at_least=1)

    def _dtypes(self, node: yaml.Node, key: str) -> tuple[str, ...]:
        names = []
        for entry in self.entries(node, key):
            if (name := self.text(entry, key)) is None:
                continue
            name = name.removeprefix("torch.")
            if isinstance(getattr(torch, name, None), torch.dtype):
                names.append(name)
            else:
                self.complain(entry, f"{key}: {name}: no such dtype{_dtype_meant(name)}")
        return tuple(names)

    def _layouts(self, node: yaml.Node, key: str) -> tuple[str, ...]:
        names = []
        for entry in self.entries(node, key):
            if (name := self.text(entry, key)) is None:
                continue
            try:
                LayoutConstraint([name])
                names.append(name)
            except ValueError as error:
                self.complain(entry, f"{key}: {error}")
        return tuple(names)


def _fields(keys: Mapping[str, yaml.Node], readers: Mapping[str, tuple[str, _Reader]]) -> dict[str, Any]:
    """The arguments of a dataclass; what could not be read is left out, since its problem is noted."""
    read = {field: reader(keys[key], key) for key, (field, reader) in readers.items() if key in keys}
    return {field: value for field, value in read.items() if value is not None}


def _op_problem(name: str) -> str:
    """Why no graph has such an op, or nothing. A library that is not imported here may register its ops later."""
    try:
        (full,) = read_op_names([name])
    except ValueError as error:
        return str(error)
    namespace, _, op = full.partition(".")
    if namespace in ("aten", "higher_order"):
        return ""
    if hasattr(torch.ops.aten, namespace):
        return _op_problem(f"aten.{full}")
    return f"{name}: no such op; did you mean aten.{op}?" if did_you_mean(namespace, ["aten"]) else ""


def _dtype_meant(name: str) -> str:
    short = _SHORT_DTYPE.fullmatch(name.lower())
    long = f"{_LONG[short['kind']]}{short['bits']}" if short else name
    known = sorted(key for key, value in vars(torch).items() if isinstance(value, torch.dtype))
    return did_you_mean(long, known)
