"""Which ops a limit is about, by their names, and which of their tensors.

Names are aten's, since a backend sees a graph after AOTAutograd. A name that can't occur there is refused: a rule that
never fires looks like a program that is fine.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch.fx import Node

from repro_runner.constraints.nodes import TracedTensor, op_name, tensors_of, traced_tensors
from repro_runner.output.suggestions import did_you_mean
from repro_runner.torch_seams import DispatchKey, FunctionSchema, OpOverload, OpOverloadPacket, all_op_names

OpName: TypeAlias = str | OpOverload | OpOverloadPacket

# Ops that AOTAutograd does leave in a graph: the write back into an input, a swapped storage, a dynamic shape.
_KEPT = ("aten::copy_", "aten::set_", "aten::sym_")


def read_op_names(ops: Iterable[OpName]) -> frozenset[str]:
    """The full names of these ops. Raises ValueError with a line for each name that can't match any op."""
    if isinstance(ops, str):
        raise TypeError(f"ops={ops!r}: must be a list")
    names = frozenset(_full_name(str(op)) for op in ops)
    if problems := sorted(problem for name in names if (problem := _name_problem(name))):
        raise ValueError("\n".join(problems))
    return names


def calls_one_of(node: Node, names: frozenset[str]) -> bool:
    """Does the node call one of these ops? A name without an overload stands for all of them."""
    if node.op != "call_function":
        return False
    name = op_name(node)
    return name in names or ".".join(name.split(".")[:2]) in names


def overloads(name: str) -> list[OpOverload]:
    """The overloads that a full name stands for, as far as a backend can see them. Empty if the op is not registered
    (yet), and for a higher-order op, which has no schema."""
    namespace, _, op = name.partition(".")
    packet, _, overload = op.partition(".")
    found = getattr(getattr(torch.ops, namespace), packet, None)
    if not isinstance(found, OpOverloadPacket):
        return []
    # A packet of aten also lists TorchScript's ops on numbers.
    there = _aten_overloads().get(packet, ()) if namespace == "aten" else found._overload_names
    meant = [overload] if overload else there
    known = (getattr(found, each, None) for each in meant)
    return [each for each in known if each is not None and (namespace != "aten" or not _why_unseen(each))]


def op_problem(name: str) -> str:
    """Why no graph has such an op; empty if one may. A library that is not imported here may register it later."""
    try:
        (full,) = read_op_names([name])
    except ValueError as error:
        return str(error)
    namespace, _, op = full.partition(".")
    if namespace in ("aten", "higher_order"):
        return ""
    if hasattr(torch.ops.aten, namespace):
        return op_problem(f"aten.{full}")
    meant = did_you_mean(namespace, ["aten"], spelled=lambda aten: f"{aten}.{op}")
    return f"{name}: no such op{meant}" if meant else ""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Which tensors are checked: the results of all nodes, the results of `ops`, or these `arguments` of `ops`."""

    ops: frozenset[str] | None = None
    arguments: frozenset[str | int] | None = None

    def tensors(self, node: Node) -> Iterator[tuple[str, TracedTensor]]:
        """Each tensor to check, with a prefix for its message: "argument mat2: ", or "" for a result."""
        if self.ops is not None and not calls_one_of(node, self.ops):
            return
        if self.arguments is None:
            yield from (("", tensor) for tensor in traced_tensors(node))
            return
        for position, name, value in _bound_arguments(node):
            if position in self.arguments or name in self.arguments:
                yield from _tensors_in(value, f"argument {name or position}")


def read_narrowing(ops: Iterable[OpName] | None, arguments: Iterable[str | int] | None) -> Narrowing:
    """Check the names. ValueError has a line for each op that no graph has, and each argument that no op has."""
    names = None if ops is None else read_op_names(ops)
    if arguments is None:
        return Narrowing(names)
    if isinstance(arguments, str):
        raise TypeError(f"arguments={arguments!r}: must be a list")
    if not names:
        raise ValueError("arguments: of which ops? name them with ops=")
    asked = frozenset(arguments)
    if problems := [problem for each in sorted(asked, key=str) if (problem := _argument_problem(each, names))]:
        raise ValueError("\n".join(problems))
    return Narrowing(names, asked)


def _argument_problem(argument: str | int, ops: frozenset[str]) -> str | None:
    """Why none of these ops takes a tensor under this name or position; None if one does, or if a schema is unknown."""
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
    there_are = f"; there are {', '.join(names) or 'positions only'}"
    hint = did_you_mean(str(argument), names, most=1, spelled=repr) or there_are
    return f"arguments: {argument!r} is no argument of {_listed(ops)}{hint}"


def _arguments(schema: FunctionSchema) -> Iterator[tuple[str | int, bool]]:
    """Each argument under its name and its position, and whether it can be a tensor."""
    for position, argument in enumerate(schema.arguments):
        takes_tensor = "Tensor" in str(argument.type)
        yield argument.name, takes_tensor
        yield position, takes_tensor


def _bound_arguments(node: Node) -> Iterator[tuple[int, str, Any]]:
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


def _full_name(name: str) -> str:
    """`mm` and `aten::mm` -> `aten.mm`; `mm.default` -> `aten.mm.default`; `cond` -> `higher_order.cond`."""
    name = name.strip().removeprefix("torch.ops.").replace("::", ".")
    first, _, rest = name.partition(".")
    if not rest and first not in _aten_overloads() and hasattr(torch.ops.higher_order, first):
        return f"higher_order.{first}"
    if not rest or rest in _aten_overloads().get(first, ()):
        return f"aten.{name}"
    return name


def _name_problem(name: str) -> str | None:
    """Why this name can't match anything. Only aten is known in full: another library's ops may be registered later."""
    namespace, _, op = name.partition(".")
    if namespace != "aten":
        return None
    packet, _, overload = op.partition(".")
    known = _aten_overloads().get(packet, ())
    if not known:
        return f"{name}: no such op{did_you_mean(packet, _aten_overloads(), spelled='aten.{}'.format)}"
    if overload and overload not in known:
        return f"{name}: no such overload; there are {', '.join(known)}"
    meant = [overload] if overload else known
    reasons = [_why_unseen(getattr(getattr(torch.ops.aten, packet), each)) for each in meant]
    return f"{name}: {reasons[0]}" if all(reasons) else None


def _why_unseen(overload: OpOverload) -> str | None:
    """Why AOTAutograd replaces this op before a backend sees it; None if it does not."""
    if overload._schema.name.startswith(_KEPT):
        return None
    if overload.has_kernel_for_dispatch_key(DispatchKey.CompositeImplicitAutograd):
        return "is made of other ops, and a backend sees only those; name them instead"
    if overload._schema.is_mutable:
        return "writes into an argument, and a backend sees only the op that returns a new tensor; name that instead"
    return None


@functools.cache
def _aten_overloads() -> dict[str, tuple[str, ...]]:
    """Op -> its overloads that a graph can have."""
    found: dict[str, list[str]] = {}
    for name in sorted(all_op_names()):
        namespace, _, op = name.partition("::")
        packet, _, overload = op.partition(".")
        if namespace == "aten":
            found.setdefault(packet, []).append(overload or "default")
    return {packet: tuple(overloads) for packet, overloads in found.items()}
