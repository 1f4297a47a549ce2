"""The names of ops, as a rule may write them.

They are aten's, since a backend sees a graph after AOTAutograd. A name that can't occur there is refused: a rule that
never fires looks like a program that is fine.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx import Node

from repro_runner.constraints.nodes import op_name

OpName = str | OpOverload | OpOverloadPacket

# What AOTAutograd leaves in a graph all the same: the write back into an input, a swapped storage, a dynamic shape.
_KEPT = ("aten::copy_", "aten::set_", "aten::sym_")


def read_op_names(ops: Iterable[OpName]) -> frozenset[str]:
    """Their full names; ValueError with a line for each that can't match anything."""
    if isinstance(ops, str):
        raise TypeError(f"ops={ops!r}: must be a list")
    names = frozenset(_full_name(str(op)) for op in ops)
    if problems := sorted(problem for name in names if (problem := _problem(name))):
        raise ValueError("\n".join(problems))
    return names


def calls_one_of(node: Node, names: frozenset[str]) -> bool:
    """Does the node call one of these ops? A name without an overload stands for all of them."""
    if node.op != "call_function":
        return False
    name = op_name(node)
    return name in names or ".".join(name.split(".")[:2]) in names


def overloads(name: str) -> list[OpOverload]:
    """What a full name stands for, as far as a backend can see it; nothing for what is not registered (yet), and for a
    higher-order op, which has no schema."""
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


def _full_name(name: str) -> str:
    """`mm` and `aten::mm` -> `aten.mm`; `mm.default` -> `aten.mm.default`; `cond` -> `higher_order.cond`."""
    name = name.strip().removeprefix("torch.ops.").replace("::", ".")
    first, _, rest = name.partition(".")
    if not rest and first not in _aten_overloads() and hasattr(torch.ops.higher_order, first):
        return f"higher_order.{first}"
    if not rest or rest in _aten_overloads().get(first, ()):
        return f"aten.{name}"
    return name


def _problem(name: str) -> str | None:
    """Why this name can't match anything. Only aten is known in full: another library's ops may be registered later."""
    namespace, _, op = name.partition(".")
    if namespace != "aten":
        return None
    packet, _, overload = op.partition(".")
    known = _aten_overloads().get(packet, ())
    if not known:
        return f"{name}: no such op{_did_you_mean(packet)}"
    if overload and overload not in known:
        return f"{name}: no such overload; there are {', '.join(known)}"
    meant = [overload] if overload else known
    reasons = [_why_unseen(getattr(getattr(torch.ops.aten, packet), each)) for each in meant]
    return f"{name}: {reasons[0]}" if all(reasons) else None


def _why_unseen(overload: OpOverload) -> str | None:
    """Why AOTAutograd replaces this op before a backend sees it; None if it does not."""
    if overload._schema.name.startswith(_KEPT):
        return None
    if overload.has_kernel_for_dispatch_key(torch._C.DispatchKey.CompositeImplicitAutograd):
        return "is made of other ops, and a backend sees only those; name them instead"
    if overload._schema.is_mutable:
        return "writes into an argument, and a backend sees only the op that returns a new tensor; name that instead"
    return None


@functools.cache
def _aten_overloads() -> dict[str, tuple[str, ...]]:
    """Op -> its overloads that a graph can have."""
    found: dict[str, list[str]] = {}
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        namespace, _, op = name.partition("::")
        packet, _, overload = op.partition(".")
        if namespace == "aten":
            found.setdefault(packet, []).append(overload or "default")
    return {packet: tuple(overloads) for packet, overloads in found.items()}


def _did_you_mean(name: str) -> str:
    near = difflib.get_close_matches(name, _aten_overloads(), n=3)
    return f"; did you mean {' or '.join(f'aten.{each}' for each in near)}?" if near else ""
