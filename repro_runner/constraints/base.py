"""What a limit is, how it is set, and the record of a program that breaks it.

A new limit is one file in this folder: a class with a `rule` and a `check`, a `setting` if people may set it without
Python, and a `script_text` if a minified script should carry it in a few lines. Capability files, the mock backend and
the minifier read those; none has a list of its own.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from torch.fx import GraphModule, Node

from repro_runner.constraints.graph_inputs import input_name
from repro_runner.constraints.narrowing import Narrowing, OpName, read_narrowing
from repro_runner.constraints.nodes import TracedTensor, op_name, source_line


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
    node: str = dataclasses.field(default="", compare=False)
    """Its name in the text of that graph."""
    name: str = ""
    """What the user calls an input of the graph: `parameter layer1.weight`, `input x`. Empty for an op."""

    @property
    def subject(self) -> str:
        """What breaks the rule, for people: the name of an input, or the op."""
        return self.name or self.op

    def __str__(self) -> str:
        tensor = "" if self.dtype is None else f" {self.dtype}[{', '.join(map(str, self.shape or ()))}]"
        where = f"{self.source}: " if self.source else ""
        graph = f", {self.graph}" if self.graph else ""
        return f"{where}{self.subject}{tensor}: {self.message} ({self.rule}{graph})"


class SettingsFile(Protocol):
    """A capability file, or the environment, while it is read. A malformed value is noted as a problem, and read as
    None or left out."""

    def names(self, node: Any, key: str, problem: Callable[[str], str]) -> tuple[str, ...]:
        """A list of names. `problem(name)` returns what is wrong with a name, or an empty text."""

    def numbers(self, node: Any, key: str) -> tuple[int, ...]: ...
    def number(self, node: Any, key: str, *, at_least: int | None = None) -> int | None: ...
    def size(self, node: Any, key: str) -> int | None: ...
    def flag(self, node: Any, key: str) -> bool | None: ...
    def choice(self, node: Any, key: str, choices: Sequence[str]) -> str | None: ...


Read = Callable[[SettingsFile, Any, str], Any]
"""The value under a key: (file, the value's node, the key) -> what `Constraint.from_setting` takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a limit is set without Python: under a key of a capability file, and by a variable of the environment."""

    key: str
    read: Read
    field: str = ""
    """The field of AcceleratorCapabilities with the value; if empty, the value is in its `limits`, under `key`."""
    no_limit: tuple[object, ...] = ()
    """Values besides None that set no limit."""
    in_rules: bool = False
    """A rule about some ops may set it, too: the constraint takes `ops` and `arguments`."""
    options: Mapping[str, Read] = dataclasses.field(default_factory=dict)
    """Keyword arguments of the constraint that are set in the same way: `dims` in a rule, `alignment_dims` for a whole
    device, MOCK_ALIGNMENT_DIMS in the environment."""
    variable: str = ""
    """The environment variable of the mock backend that sets it, written as in a capability file; commas separate the
    members of a list."""
    default: Any = None
    """The limit while the variable is not set; None is no limit."""

    def option_keys(self) -> dict[str, str]:
        """Option -> its key for a whole device."""
        return {option: f"{self.key}_{option}" for option in self.options}

    def option_variables(self) -> dict[str, str]:
        """Option -> its environment variable."""
        return {option: f"{self.variable}_{option.upper()}" for option in self.options} if self.variable else {}

    def variables(self) -> tuple[str, ...]:
        """All its environment variables; the one of the limit itself is first."""
        return (self.variable, *self.option_variables().values()) if self.variable else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptText:
    """A limit in plain code, for a script that needs torch alone."""

    summary: str
    """`no tensor takes more than 4 bytes`."""
    lines: tuple[str, ...]
    """Code that yields a text per problem: of `tensor` for a limit on tensors, of `node` for one on ops, of `graph`
    for one on whole graphs (`forward` is then the program's forward graph)."""
    parts: tuple[str, ...] = ()
    """The functions of repro_runner/minifier/parts/violations.py that they call."""


_with_settings: list[type[Constraint]] = []


def constraints_with_settings() -> tuple[type[Constraint], ...]:
    """Every class of constraints that has a setting; those about whole graphs come last."""
    return tuple(sorted(_with_settings, key=lambda each: issubclass(each, GraphConstraint)))


class Constraint(ABC):
    """One limit of a device. To write your own: name the rule, and yield a violation for each thing wrong with a node.

    class NoViews(Constraint):
        rule = "no-views"

        def check(self, node):
            if op_name(node).startswith("aten.view."):
                yield self.violation(node, "this device has no views")

    `check` must not read SymInts from `node.meta`; `traced_tensors(node)` has the same facts as plain values. Where a
    backend checks Dynamo's graph, too, nodes can call torch's own functions: `torch.softmax`, `Tensor.view`.
    """

    rule: ClassVar[str]
    setting: ClassVar[Setting | None] = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if vars(cls).get("setting") is not None:
            _with_settings.append(cls)

    @classmethod
    def from_setting(cls, value: Any, /, **keywords: Any) -> Constraint:
        """The constraint for this value of the setting. `keywords` are its options, and `ops` and `arguments`."""
        return cls(value, **keywords)  # type: ignore[call-arg]

    def script_text(self, op: str, /) -> ScriptText | None:  # noqa: ARG002
        """The limit that this op broke, as plain code. None: a script copies the class itself, or imports it."""
        return None

    @abstractmethod
    def check(self, node: Node) -> Iterator[Violation]:
        """Yield what is wrong with this node."""

    def check_graph(self, graph: GraphModule) -> Iterator[Violation]:  # noqa: ARG002
        """Yield what is wrong with a forward or a backward as a whole. By default nothing."""
        return iter(())

    def violation(self, node: Node, message: str, tensor: TracedTensor | None = None) -> Violation:
        """The record that this node breaks this rule; `tensor` is the result or the argument that is wrong."""
        return Violation(
            rule=self.rule,
            op=op_name(node),
            message=message,
            dtype=None if tensor is None else str(tensor.dtype).removeprefix("torch."),
            shape=None if tensor is None else tensor.shape,
            source=source_line(node),
            node=node.name,
            name=input_name(node),
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
