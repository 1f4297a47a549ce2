"""What is known of the first op that a backend computes wrongly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from repro_runner.diff.comparison import LeafComparison
from repro_runner.diff.graph_ops import Operand


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """An op of a graph."""

    name: str
    """`torch.relu`, `Tensor.add_`, `aten.mm.default`."""
    node: str
    source: str
    """`file:line` of the user's code."""
    position: int
    """Counted from 1 among the ops that compute tensors; 0 for what only picks an item of a result."""
    count: int = 1
    """More than one: it is one of so many, beginning with this position."""
    operands: tuple[Operand, ...] = ()

    def to_document(self) -> dict[str, Any]:
        operands = [{"name": each.name, "dtype": each.dtype, "shape": list(each.shape)} for each in self.operands]
        plain = {name: getattr(self, name) for name in ("name", "node", "source", "position", "count")}
        return {**plain, "operands": operands}

    def __str__(self) -> str:
        which = f"node {self.node}{f', op {self.position}' if self.position else ''}"
        if self.count > 1:
            which = f"ops {self.position} to {self.position + self.count - 1}"
        return f"{self.name} ({which}{f', {self.source}' if self.source else ''})"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstDifference:
    """Where outputs or gradients begin to differ. `kind` says what is known:

    op         `op` is computed wrongly: eager has another result for the same operands
    backward   its backward is: eager has other gradients for the same gradients of its results
    sum        the gradient of a value is not the sum of those that `uses` have
    varies     results vary from one call to the next
    writes     an input is changed that the graph does not write to
    outputs    what is returned is not what was computed
    elides     a copy of a tensor changes when that tensor is written to: the backend leaves copies out, or late
    merges     equal expressions with a write between them have one value in the backend, or it writes late
    generator  the backend draws other random numbers from torch's generators than eager
    draws      the same, but what the graph returns is right: only what is drawn later differs
    copies     even what is only passed on comes back changed: nothing that is returned can be trusted
    adds up    every op is right on the operands that it was given
    unknown    `open` says what was tried
    outside    no graph differs from the same graph run eagerly
    """

    kind: str
    compiled: int
    """How many graphs were compiled to find it."""
    ops: int = 0
    """The number of ops in the graph."""
    graph: int | None = None
    """Which of the model's graphs, counted from 0 in the order in which they were compiled."""
    op: Op | None = None
    others: int = 0
    """How many more ops, or sums, are wrong."""
    uses: tuple[Op, ...] = ()
    """The ops that take the value whose gradient is no sum of theirs."""
    aten: bool = False
    """Whether the op is one of the functional graph of aten ops, and not of Dynamo's."""
    difference: LeafComparison | None = None
    open: tuple[str, ...] = ()
    """Sentences on what was tried, and what is not known."""

    def to_document(self) -> dict[str, Any]:
        difference = None if self.difference is None else self.difference.to_document()
        names = ("kind", "graph", "ops", "compiled", "others", "aten")
        plain = {name: getattr(self, name) for name in names}
        uses = [use.to_document() for use in self.uses]
        op = self.op and self.op.to_document()
        return {**plain, "open": list(self.open), "op": op, "uses": uses, "difference": difference}
