"""The ops that a device has, and those that it lacks."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import ClassVar

import torch
from torch.fx import Node

from repro_runner.constraints.base import Constraint, ScriptText, Setting, Violation
from repro_runner.constraints.narrowing import OpName, calls_one_of, op_problem, read_op_names
from repro_runner.constraints.nodes import is_move, is_op, traced_tensors
from repro_runner.torch_seams import all_op_names

CORE_ATEN = "core-aten"
"""Stands for every op that torch tags as core."""
_NO_SUCH_OP = "this device has no such op"


def listed_op_problem(name: str) -> str:
    """As `op_problem`, for a list that may not contain `core-aten`."""
    if name == CORE_ATEN:
        return f"{name} is for the list of ops that the device has; name each op here"
    return op_problem(name)


class SupportedOpsConstraint(Constraint):
    """Only these ops are allowed, named as for UnsupportedOpsConstraint; `core-aten` stands for torch's core ops."""

    rule: ClassVar[str] = "unsupported-op"
    setting: ClassVar[Setting | None] = Setting(
        key="ops",
        field="supported_ops",
        read=lambda file, node, key: file.names(node, key, lambda name: "" if name == CORE_ATEN else op_problem(name)),
    )

    def __init__(self, ops: Iterable[OpName]) -> None:
        if isinstance(ops, str):
            raise TypeError(f"ops={ops!r}: must be a list")
        names = {str(op) for op in ops}
        core = _core_aten() if CORE_ATEN in names else frozenset()
        self.ops = core | read_op_names(names - {CORE_ATEN})

    def check(self, node: Node) -> Iterator[Violation]:
        if is_op(node) and not is_move(node) and not calls_one_of(node, self.ops):
            yield self.violation(node, _NO_SUCH_OP, next(traced_tensors(node), None))

    def script_text(self, op: str, /) -> ScriptText:
        return _one_op_text(op, op)


class UnsupportedOpsConstraint(Constraint):
    """Forbids these ops: `mm`, `aten.mm` or `aten::mm` (every overload), `aten.mm.default`, `torch.ops.aten.mm`.

    Ops outside aten are named in full, `mylib.op`; a higher-order op as `cond` or `higher_order.cond`.
    """

    rule: ClassVar[str] = SupportedOpsConstraint.rule
    setting: ClassVar[Setting | None] = Setting(
        key="unsupported_ops",
        field="unsupported_ops",
        read=lambda file, node, key: file.names(node, key, listed_op_problem),
        no_limit=((), []),
        variable="MOCK_DENY_OPS",
    )

    def __init__(self, ops: Iterable[OpName]) -> None:
        self.ops = read_op_names(ops)

    def check(self, node: Node) -> Iterator[Violation]:
        if calls_one_of(node, self.ops):
            yield self.violation(node, _NO_SUCH_OP, next(traced_tensors(node), None))

    def script_text(self, op: str, /) -> ScriptText:
        packet = ".".join(op.split(".")[:2])
        return _one_op_text(op, packet if packet in self.ops else op)


def _one_op_text(op: str, named: str) -> ScriptText:
    test = f'str(node.target) == "{op}"' if named == op else f'str(node.target).startswith("{named}.")'
    lines = (f"if {test}:", f'    yield "{_NO_SUCH_OP}"')
    return ScriptText(summary=f"the device has no {named}", lines=lines)


@functools.cache
def _core_aten() -> frozenset[str]:
    found = set()
    for name in all_op_names():
        namespace, _, op = name.partition("::")
        packet, _, overload = op.partition(".")
        if namespace == "aten":
            op_overload = getattr(getattr(torch.ops.aten, packet), overload or "default")
            found |= {str(op_overload)} if torch.Tag.core in op_overload.tags else set()
    return frozenset(found)
