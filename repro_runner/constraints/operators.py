"""Operators that a device lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from torch.fx import Node

from repro_runner.constraints.base import Constraint, Violation
from repro_runner.constraints.nodes import traced_tensors
from repro_runner.constraints.op_names import OpName, calls_one_of, read_op_names


class UnsupportedOpsConstraint(Constraint):
    """None of these ops: `mm`, `aten.mm` or `aten::mm` (every overload), `aten.mm.default`, `torch.ops.aten.mm`.

    Ops outside aten are named in full, `mylib.op`; a higher-order op as `cond` or `higher_order.cond`.
    """

    rule: ClassVar[str] = "unsupported-op"

    def __init__(self, ops: Iterable[OpName]) -> None:
        self.ops = read_op_names(ops)

    def check(self, node: Node) -> Iterator[Violation]:
        if calls_one_of(node, self.ops):
            yield self.violation(node, "this device has no such op", next(traced_tensors(node), None))
