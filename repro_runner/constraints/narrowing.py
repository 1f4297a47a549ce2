"""Which tensors a limit is about: all, those that some ops produce, or those that some ops are given."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import Node

from repro_runner.constraints.nodes import TracedTensor, tensors_of, traced_tensors
from repro_runner.constraints.op_names import OpName, calls_one_of, overloads, read_op_names


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The tensors that are checked. `ops` None: what every node produces. `arguments` None: what these ops produce."""

    ops: frozenset[str] | None = None
    arguments: frozenset[str | int] | None = None

    def tensors(self, node: Node) -> Iterator[tuple[str, TracedTensor]]:
        """Each tensor to check, after the words that say which it is: "argument mat2: ", or nothing for a result."""
        if self.ops is not None and not calls_one_of(node, self.ops):
            return
        if self.arguments is None:
            yield from (("", tensor) for tensor in traced_tensors(node))
            return
        for position, name, value in _bound(node):
            if position in self.arguments or name in self.arguments:
                yield from _tensors_in(value, f"argument {name or position}")


def read_narrowing(ops: Iterable[OpName] | None, arguments: Iterable[str | int] | None) -> Narrowing:
    """ValueError with a line for each op that no graph has, and each argument that none of the ops has."""
    names = None if ops is None else read_op_names(ops)
    if arguments is None:
        return Narrowing(names)
    if isinstance(arguments, str):
        raise TypeError(f"arguments={arguments!r}: must be a list")
    if not names:
        raise ValueError("arguments: of which ops? name them with ops=")
    asked = frozenset(arguments)
    if problems := [problem for each in sorted(asked, key=str) if (problem := _problem(each, names))]:
        raise ValueError("\n".join(problems))
    return Narrowing(names, asked)


def _problem(argument: str | int, ops: frozenset[str]) -> str | None:
    """Why no op of these has such a tensor; None if one has, or if what it takes is not known here."""
    schemas = {op: [overload._schema for overload in overloads(op)] for op in ops}
    without = {op for op, known in schemas.items() if not known}
    if without and (isinstance(argument, int) or any(not op.startswith("higher_order.") for op in without)):
        return None
    there = [pair for known in schemas.values() for schema in known for pair in _arguments(schema)]
    if (argument, True) in there:
        return None
    if (argument, False) in there:
        return f"arguments: {argument!r} takes no tensor in {_listed(ops)}"
    names = sorted({name for name, takes_tensor in there if takes_tensor and isinstance(name, str)})
    near = difflib.get_close_matches(str(argument), names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names) or 'positions only'}"
    return f"arguments: {argument!r} is no argument of {_listed(ops)}; {hint}"


def _arguments(schema: torch._C.FunctionSchema) -> Iterator[tuple[str | int, bool]]:
    """Each argument under its name and its position, and whether it can be a tensor."""
    for position, argument in enumerate(schema.arguments):
        takes_tensor = "Tensor" in str(argument.type)
        yield argument.name, takes_tensor
        yield position, takes_tensor


def _bound(node: Node) -> Iterator[tuple[int, str, Any]]:
    """(position, name, value) of each argument of a call; a higher-order op names none."""
    if not isinstance(node.target, OpOverload):
        yield from ((position, "", value) for position, value in enumerate(node.args))
        return
    for position, argument in enumerate(node.target._schema.arguments):
        if position < len(node.args):
            yield position, argument.name, node.args[position]
        elif argument.name in node.kwargs:
            yield position, argument.name, node.kwargs[argument.name]


def _tensors_in(value: Any, place: str) -> Iterator[tuple[str, TracedTensor]]:
    if isinstance(value, Node):
        yield from ((f"{place}: ", tensor) for tensor in tensors_of(value))
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from _tensors_in(each, f"{place}[{index}]")


def _listed(ops: frozenset[str]) -> str:
    return " or ".join(sorted(ops))
