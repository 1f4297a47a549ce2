"""Operators that a device lacks.

The names are aten's, since a backend sees a graph after AOTAutograd. A name that can't occur there is refused: a rule
that never fires looks like a program that is fine.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Iterator
from typing import ClassVar

import torch
from torch._ops import OpOverload, OpOverloadPacket
from torch.fx import Node

from repro_runner.constraints.base import Constraint, Violation
from repro_runner.constraints.nodes import op_name, traced_tensors

# What AOTAutograd leaves in a graph all the same: the write back into an input, a swapped storage, a dynamic shape.
_KEPT = ("aten::copy_", "aten::set_", "aten::sym_")


class UnsupportedOpsConstraint(Constraint):
    """None of these ops: `mm`, `aten.mm` or `aten::mm` (every overload), `aten.mm.default`, `torch.ops.aten.mm`.

    Ops outside aten are named in full, `mylib.op`; a higher-order op as `cond` or `higher_order.cond`.
    """

    rule: ClassVar[str] = "unsupported-op"

    def __init__(self, ops: Iterable[str | OpOverload | OpOverloadPacket]) -> None:
        if isinstance(ops, str):
            raise TypeError(f"ops={ops!r}: must be a list")
        names = {_full_name(str(op)) for op in ops}
        if problems := sorted(problem for name in names if (problem := _problem(name))):
            raise ValueError("\n".join(problems))
        self.ops = frozenset(names)

    def check(self, node: Node) -> Iterator[Violation]:
        if node.op != "call_function":
            return
        name = op_name(node)
        if name in self.ops or _without_overload(name) in self.ops:
            yield self.violation(node, "this device has no such op", next(traced_tensors(node), None))


def _full_name(name: str) -> str:
    """`mm` and `aten::mm` -> `aten.mm`; `mm.default` -> `aten.mm.default`; `cond` -> `higher_order.cond`."""
    name = name.strip().removeprefix("torch.ops.").replace("::", ".")
    first, _, rest = name.partition(".")
    if not rest and first not in _aten_overloads() and hasattr(torch.ops.higher_order, first):
        return f"higher_order.{first}"
    if not rest or rest in _aten_overloads().get(first, ()):
        return f"aten.{name}"
    return name


def _without_overload(name: str) -> str:
    return ".".join(name.split(".")[:2])


def _problem(name: str) -> str | None:
    """Why this name can't match anything. Only aten is known in full: another library's ops may be registered later."""
    namespace, _, op = name.partition(".")
    if namespace != "aten":
        return None
    packet, _, overload = op.partition(".")
    overloads = _aten_overloads().get(packet, ())
    if not overloads:
        return f"{name}: no such op{_did_you_mean(packet)}"
    if overload and overload not in overloads:
        return f"{name}: no such overload; there are {', '.join(overloads)}"
    meant = [overload] if overload else overloads
    reasons = [_why_never_seen(getattr(getattr(torch.ops.aten, packet), each)) for each in meant]
    return f"{name}: {reasons[0]}" if all(reasons) else None


def _why_never_seen(overload: OpOverload) -> str | None:
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
    """Op -> its overloads. `torch.ops.aten` lists more: TorchScript's ops on numbers, which no graph has."""
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
