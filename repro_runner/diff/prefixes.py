"""The first ops of a graph as a graph of its own, with what they compute as its outputs; and runs of such a graph from
the state in which the model ran the whole: inputs, random numbers, gradients."""

from __future__ import annotations

import copy
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, GraphModule, Interpreter, Node

from repro_runner.constraints.nodes import op_name, source_line
from repro_runner.diff.execution import random_like
from repro_runner.torch_seams import enter_autocast, exit_autocast, pytree
from repro_runner.values import Flat

Place = tuple[int, ...]
"""Where a tensor is in an op's value: `()` for the value itself, `(1, 0)` for the first item of its second."""

# Between such a pair of calls tensors differ from those outside (vmap's lack a dimension): none can be an output.
_OPENS = re.compile(r"_increment_nesting$|^_?enter_(?!autocast)")
_CLOSES = re.compile(r"_decrement_nesting$|^_?exit_(?!autocast)")
_CALLS = ("call_function", "call_method", "call_module")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """A tensor that an op takes, by the name of the node that yields it."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.shape)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """An op after which the graph can be cut, since its value holds a tensor."""

    node: Node
    end: Node
    """Where the graph is cut: after the op itself, or where the region ends whose result it is."""
    places: tuple[Place, ...]
    operands: tuple[Operand, ...]

    @property
    def op(self) -> str:
        """As the user would write it: `torch.relu`, `Tensor.add_`, `operator.add`."""
        if self.node.op == "call_method":
            return f"Tensor.{self.node.target}"
        return str(self.node.target) if self.node.op == "call_module" else op_name(self.node)

    @property
    def source(self) -> str:
        return source_line(self.node)


class GraphPrefixes:
    """A graph that Dynamo traced, and where it can be cut. It is run once, which may change `inputs`."""

    def __init__(self, graph: GraphModule, inputs: Sequence[Any]) -> None:
        self.graph = graph
        self._nodes = list(graph.graph.nodes)
        self._order = {node: at for at, node in enumerate(self._nodes)}
        self._tensors, self._written = _Observer(graph).observe(inputs)
        self.cuts = tuple(self._find_cuts())

    def up_to(self, cut: Cut) -> tuple[GraphModule, list[Node]]:
        """The graph up to an op, and the node of each output: the op's own tensors, and those that the rest needs."""
        last = self._order[cut.end]
        live = [
            (node, place)
            for node in self._nodes[: last + 1]
            if node.op in _CALLS and (node is cut.node or any(self._order[user] > last for user in node.users))
            for place in self._tensors[node]
        ]
        return self._with_outputs(last, live)

    def instrumented(self, cut: Cut) -> tuple[GraphModule, list[Node]]:
        """As `up_to`, with the tensors of every op as outputs, except those that another op writes to afterwards."""
        last = self._order[cut.end]
        values = [
            (each.node, place)
            for each in self.cuts
            if self._order[each.end] <= last
            for place in each.places
            if not self._order[each.node] < self._written.get((each.node, place), -1) <= last
        ]
        return self._with_outputs(last, values)

    def alone(self, cut: Cut, inputs: Sequence[Any]) -> tuple[GraphModule, GraphInputs] | None:
        """One op as a graph, and its inputs when the whole graph runs; None if these are more than tensors."""
        in_region = cut.end is not cut.node
        operands = None if in_region else _Operands(self.graph, cut.node).read(inputs)
        if operands is None:
            return None
        graph = Graph()
        placeholders = {node: graph.placeholder(node.name) for node in cut.node.all_input_nodes}
        node = graph.node_copy(cut.node, placeholders.__getitem__)
        graph.output(tuple(_add_pick(graph, node, place) for place in cut.places))
        return GraphModule(self.graph, graph), operands

    def _with_outputs(self, last: int, values: Sequence[tuple[Node, Place]]) -> tuple[GraphModule, list[Node]]:
        prefix = _Copy(self.graph)
        for node in self._nodes[: last + 1]:
            prefix.add(node)
        return prefix.finished([prefix.picked(*each) for each in values]), [node for node, _ in values]

    def _find_cuts(self) -> Iterator[Cut]:
        depth, opened = 0, 0
        for at, node in enumerate(self._nodes):
            name = str(getattr(node.target, "__name__", ""))
            before, depth = depth, depth + bool(_OPENS.search(name)) - bool(_CLOSES.search(name))
            if depth == 0 and before > 0:
                yield from self._cut_after_region(self._nodes[opened:at], node)
            elif depth == 0 and node.op in _CALLS and self._tensors[node] and not self._picks_an_item(node):
                yield self._cut(node, node)
            elif depth > 0 and before == 0:
                opened = at

    def _cut_after_region(self, region: Sequence[Node], end: Node) -> Iterator[Cut]:
        """A region counts as one op: the last one in it whose value is used outside of it."""
        used = [node for node in region if any(self._order[user] > self._order[end] for user in node.users)]
        yield from (self._cut(node, end) for node in used[-1:] if self._tensors[node])

    def _cut(self, node: Node, end: Node) -> Cut:
        operands = (tensor for each in node.all_input_nodes for tensor in self._tensors[each].values())
        return Cut(node=node, end=end, places=tuple(self._tensors[node]), operands=tuple(operands))

    def _picks_an_item(self, node: Node) -> bool:
        """Whether the node only takes an item of the value of another op. Then it does not count as an op."""
        if node.target is not operator.getitem or not isinstance(node.args[0], Node):
            return False
        return () not in self._tensors[node.args[0]]


class _Observer(Interpreter):
    """Run a graph; note which tensors each node yields, and which node last wrote to them."""

    def __init__(self, graph: GraphModule) -> None:
        super().__init__(graph)
        self._found: dict[Node, dict[Place, Operand]] = {}
        self._written: dict[tuple[Node, Place], int] = {}
        self._versions: dict[tuple[Node, Place], tuple[Tensor, int]] = {}

    def observe(self, inputs: Sequence[Any]) -> tuple[dict[Node, dict[Place, Operand]], dict[tuple[Node, Place], int]]:
        """The tensors by node and place, and by the same key the number of the last node that wrote to each."""
        with torch.set_grad_enabled(torch.is_grad_enabled()):  # the graph may set it, and end before it sets it back
            self.run(*inputs)
        return self._found, self._written

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        for key, (tensor, version) in self._versions.items():
            if _version(tensor) != version:
                self._written[key] = len(self._found)
                self._versions[key] = tensor, _version(tensor)
        tensors = tensors_by_place(value)
        self._versions |= {(n, place): (tensor, _version(tensor)) for place, tensor in tensors.items()}
        self._found[n] = {place: _describe_tensor(n, tensor) for place, tensor in tensors.items()}
        return value


def _version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def _describe_tensor(node: Node, tensor: Tensor) -> Operand:
    return Operand(name=node.name, dtype=str(tensor.dtype).removeprefix("torch."), shape=tuple(tensor.shape))


def tensors_by_place(value: Any) -> dict[Place, Tensor]:
    """The tensors in nested tuples and lists. What is in other objects can't be picked by an index."""
    leaves, _ = pytree.tree_flatten_with_path(value)
    return {
        tuple(key.idx for key in path if isinstance(key, pytree.SequenceKey)): leaf
        for path, leaf in leaves
        if isinstance(leaf, Tensor) and all(isinstance(key, pytree.SequenceKey) for key in path)
    }


class _Copy:
    """A graph in the making: the inputs of another, and then its ops one after the other."""

    def __init__(self, origin: GraphModule) -> None:
        self.graph = Graph()
        self._origin = origin
        self._copies: dict[Node, Node] = {}
        self._autocasts: list[Node] = []
        for node in origin.graph.find_nodes(op="placeholder"):
            self._copies[node] = self.graph.node_copy(node)

    def add(self, node: Node) -> None:
        if node.op == "placeholder":
            return
        self._copies[node] = self.graph.node_copy(node, self._copies.__getitem__)
        if node.target is enter_autocast:
            self._autocasts.append(node)
        elif node.target is exit_autocast:
            self._autocasts.remove(node.args[0])  # type: ignore[arg-type]

    def picked(self, node: Node, place: Place) -> Node:
        return _add_pick(self.graph, self._copies[node], place)

    def finished(self, outputs: Sequence[Node]) -> GraphModule:
        """The graph with these outputs. Regions that the cut left open are closed."""
        for node in reversed(self._autocasts):
            self.graph.call_function(exit_autocast, (self._copies[node],))
        self.graph.output(tuple(outputs))
        return copy.deepcopy(GraphModule(self._origin, self.graph))  # a compiler may change what the graph refers to


def _add_pick(graph: Graph, node: Node, place: Place) -> Node:
    """A node, or an item of its value."""
    for item in place:
        node = graph.call_function(operator.getitem, (node, item))
    return node


class _Operands(Interpreter):
    """Runs a graph up to a node, to see the arguments of that node."""

    def __init__(self, graph: GraphModule, node: Node) -> None:
        super().__init__(graph)
        self._node = node

    def read(self, inputs: Sequence[Any]) -> GraphInputs | None:
        try:
            with torch.set_grad_enabled(torch.is_grad_enabled()):
                self.run(*inputs)
        except _Reached as reached:
            return reached.operands
        return None

    def run_node(self, n: Node) -> Any:
        if n is self._node:
            values = [self.env[each] for each in n.all_input_nodes]
            raise _Reached(
                GraphInputs(values) if all(isinstance(each, Tensor | int | float) for each in values) else None
            )
        return super().run_node(n)


class _Reached(Exception):
    def __init__(self, operands: GraphInputs | None) -> None:
        self.operands = operands


class GraphInputs:
    """What a graph was called with. Tensors that share memory do so in each copy, too."""

    def __init__(self, inputs: Sequence[Any]) -> None:
        self._requires_grad = [isinstance(value, Tensor) and value.requires_grad for value in inputs]
        self._is_leaf = [isinstance(value, Tensor) and value.is_leaf for value in inputs]
        self._values = copy.deepcopy([value.detach() if isinstance(value, Tensor) else value for value in inputs])
        self._random = torch.get_rng_state()
        self._cuda_random = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []

    def fresh(self) -> tuple[list[Any], dict[int, Tensor]]:
        """Copies that a graph may write to, and by position the leaves that will have gradients."""
        values = copy.deepcopy(self._values)
        leaves = {place: value.requires_grad_() for place, value in enumerate(values) if self._requires_grad[place]}
        with torch.enable_grad():
            for place, leaf in leaves.items():
                if not self._is_leaf[place]:  # an in-place write is allowed to a computed tensor, not to a leaf
                    values[place] = leaf.clone()
        return values, leaves

    def restore_random(self) -> None:
        torch.set_rng_state(self._random)
        if self._cuda_random:
            torch.cuda.set_rng_state_all(self._cuda_random)


def run_graph(
    call: Callable[..., Any], inputs: GraphInputs, names: Sequence[str], *, gradients: bool
) -> tuple[Flat, Flat]:
    """(what the graph returns, by these names; its inputs after the call, and their gradients)."""
    arguments, leaves = inputs.fresh()
    inputs.restore_random()
    with torch.set_grad_enabled(torch.is_grad_enabled()):  # a prefix may end before the graph sets it back
        returned = list(call(*arguments))
    if gradients:
        _run_backward(returned)
    outputs: Flat = {
        (name, f"[{place}]"): value.detach() if isinstance(value, Tensor) else value
        for place, (name, value) in enumerate(zip(names, returned, strict=False))
    }
    effects: Flat = {
        (f"input {place}",): value.detach() for place, value in enumerate(arguments) if isinstance(value, Tensor)
    }
    if gradients:
        effects |= {(f"gradient of input {place}",): leaf.grad for place, leaf in leaves.items()}
    return outputs, effects


def _run_backward(returned: Sequence[Any]) -> None:
    tensors = [value for value in returned if isinstance(value, Tensor) and value.requires_grad]
    if tensors:
        generator = torch.Generator().manual_seed(0)
        torch.autograd.backward(tensors, [random_like(each, generator) for each in tensors])
