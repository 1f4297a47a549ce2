"""What a limit is, and the record of a program that breaks it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from torch.fx import Node

from repro_runner.constraints.nodes import TracedTensor, op_name, source_line, traced_tensors


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One node of a graph that the device would refuse."""

    rule: str
    op: str
    message: str
    dtype: str | None = None
    """`float32`; None when the op yields no tensor."""
    shape: tuple[int | str, ...] | None = None
    """A dynamic dimension is its symbol: `("s77", 3)`."""
    source: str = ""
    """`file:line` of the user's code."""
    graph: str = ""
    """`forward` or `backward`."""

    def __str__(self) -> str:
        tensor = "" if self.dtype is None else f" {self.dtype}[{', '.join(map(str, self.shape or ()))}]"
        where = f"{self.source}: " if self.source else ""
        graph = f", {self.graph}" if self.graph else ""
        return f"{where}{self.op}{tensor}: {self.message} ({self.rule}{graph})"


class Constraint(ABC):
    """One limit of a device. For one's own: name the rule, and yield a violation for each thing wrong with a node.

    class NoViews(Constraint):
        rule = "no-views"

        def check(self, node):
            if op_name(node).startswith("aten.view."):
                yield self.violation(node, "this device has no views")

    `check` must not read SymInts from `node.meta`; `traced_tensors(node)` has the same facts as plain values.
    """

    rule: ClassVar[str]

    @abstractmethod
    def check(self, node: Node) -> Iterator[Violation]:
        """Yield what is wrong with this node."""

    def violation(self, node: Node, message: str, tensor: TracedTensor | None = None) -> Violation:
        """The record of this rule broken by this node, or by one of the tensors it produces."""
        return Violation(
            rule=self.rule,
            op=op_name(node),
            message=message,
            dtype=None if tensor is None else str(tensor.dtype).removeprefix("torch."),
            shape=None if tensor is None else tensor.shape,
            source=source_line(node),
        )


class TensorConstraint(Constraint):
    """A limit on single tensors: the graph's inputs, its constants and whatever an op produces."""

    @abstractmethod
    def complaint(self, tensor: TracedTensor) -> str | None:
        """What is wrong with this tensor; None if nothing is."""

    def check(self, node: Node) -> Iterator[Violation]:
        for tensor in traced_tensors(node):
            if message := self.complaint(tensor):
                yield self.violation(node, message, tensor)
