"""What a limit is, and the record of a program that breaks it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from torch.fx import GraphModule, Node

from repro_runner.constraints.narrowing import Narrowing, read_narrowing
from repro_runner.constraints.nodes import TracedTensor, op_name, source_line
from repro_runner.constraints.op_names import OpName


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
    """`forward`, `backward` or `pre-aot`."""
    node: str = field(default="", compare=False)
    """Its name in the text of that graph."""

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

    `check` must not read SymInts from `node.meta`; `traced_tensors(node)` has the same facts as plain values. Where a
    backend checks Dynamo's graph, too, nodes can call torch's own functions: `torch.softmax`, `Tensor.view`.
    """

    rule: ClassVar[str]

    @abstractmethod
    def check(self, node: Node) -> Iterator[Violation]:
        """Yield what is wrong with this node."""

    def check_graph(self, graph: GraphModule) -> Iterator[Violation]:  # noqa: ARG002
        """Yield what is wrong with a forward or a backward as a whole; nothing, unless the rule is about that."""
        return iter(())

    def violation(self, node: Node, message: str, tensor: TracedTensor | None = None) -> Violation:
        """The record of this rule broken by this node, or by one of the tensors it produces or is given."""
        return Violation(
            rule=self.rule,
            op=op_name(node),
            message=message,
            dtype=None if tensor is None else str(tensor.dtype).removeprefix("torch."),
            shape=None if tensor is None else tensor.shape,
            source=source_line(node),
            node=node.name,
        )


class GraphConstraint(Constraint):
    """A limit on a forward or a backward as a whole."""

    @abstractmethod
    def check_graph(self, graph: GraphModule) -> Iterator[Violation]:
        """Yield what is wrong with this graph."""

    def check(self, node: Node) -> Iterator[Violation]:  # noqa: ARG002
        return iter(())


class TensorConstraint(Constraint):
    """A limit on single tensors: the graph's inputs, its constants and whatever an op produces.

    Narrowed by `ops` to what these ops produce, named as UnsupportedOpsConstraint names them; by `arguments` to the
    tensors these ops are given, named as in their schema (`torch.ops.aten.mm.default._schema`) or by position:

        ShapeConstraint(alignment=16, ops=["mm"], arguments=["mat2"], dims=[-1])
    """

    narrowing = Narrowing()

    def __init__(self, *, ops: Iterable[OpName] | None = None, arguments: Iterable[str | int] | None = None) -> None:
        self.narrowing = read_narrowing(ops, arguments)

    @abstractmethod
    def complaint(self, tensor: TracedTensor) -> str | None:
        """What is wrong with this tensor; None if nothing is."""

    def check(self, node: Node) -> Iterator[Violation]:
        for place, tensor in self.narrowing.tensors(node):
            if message := self.complaint(tensor):
                yield self.violation(node, f"{place}{message}", tensor)
