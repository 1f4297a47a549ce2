"""Limits that only a whole device has: the list of its ops, and that it takes static shapes alone."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import ClassVar

import torch
from torch.fx import Node

from repro_runner.adapters.nodes import is_move, is_op
from repro_runner.constraints import (
    Constraint,
    TensorConstraint,
    TracedTensor,
    UnsupportedOpsConstraint,
    Violation,
    traced_tensors,
)
from repro_runner.constraints.nodes import tensors_of
from repro_runner.constraints.op_names import OpName, calls_one_of, read_op_names

_SYMBOL = re.compile(r"\b[su]\d+\b")

CORE_ATEN = "core-aten"
"""Stands for every op that torch tags as core."""


class SupportedOpsConstraint(Constraint):
    """No ops but these, named as for UnsupportedOpsConstraint; `core-aten` stands for torch's core ops."""

    rule: ClassVar[str] = UnsupportedOpsConstraint.rule

    def __init__(self, ops: Iterable[OpName]) -> None:
        if isinstance(ops, str):
            raise TypeError(f"ops={ops!r}: must be a list")
        names = {str(op) for op in ops}
        core = _core_aten() if CORE_ATEN in names else frozenset()
        self.ops = core | read_op_names(names - {CORE_ATEN})

    def check(self, node: Node) -> Iterator[Violation]:
        if is_op(node) and not is_move(node) and not calls_one_of(node, self.ops):
            yield self.violation(node, "this device has no such op", next(traced_tensors(node), None))


class StaticShapesConstraint(TensorConstraint):
    """No dimension is dynamic. Reported where one enters: at an input, or an op whose result depends on data."""

    rule: ClassVar[str] = "dynamic-shape"

    def complaint(self, tensor: TracedTensor) -> str | None:
        dynamic = [f"dimension {dim} is {size}" for dim, size in enumerate(tensor.shape) if isinstance(size, str)]
        return f"{', '.join(dynamic)}: this device takes static shapes only" if dynamic else None

    def check(self, node: Node) -> Iterator[Violation]:
        known = _symbols(size for each in node.all_input_nodes for tensor in tensors_of(each) for size in tensor.shape)
        known |= _symbols(each.meta.get("val") for each in node.all_input_nodes)
        for violation in super().check(node):
            if not _symbols(violation.shape or ()) <= known:
                yield violation


def _symbols(sizes: Iterable[object]) -> set[str]:
    """The symbols in `2*s77 + u0`; a tensor's own text has none."""
    return {symbol for size in sizes if not isinstance(size, torch.Tensor) for symbol in _SYMBOL.findall(str(size))}


@functools.cache
def _core_aten() -> frozenset[str]:
    found = set()
    for name in torch._C._dispatch_get_all_op_names():
        namespace, _, op = name.partition("::")
        packet, _, overload = op.partition(".")
        if namespace == "aten":
            op_overload = getattr(getattr(torch.ops.aten, packet), overload or "default")
            found |= {str(op_overload)} if torch.Tag.core in op_overload.tags else set()
    return frozenset(found)
