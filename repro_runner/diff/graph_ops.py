"""The ops of a graph that Dynamo or AOTAutograd traced, and copies of the graph that also return what these compute."""

from __future__ import annotations

import copy
import math
import operator
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.fx import Graph, GraphModule, Interpreter, Node

from repro_runner.constraints.nodes import op_name, source_line
from repro_runner.diff.execution import memory_of, random_state
from repro_runner.torch_seams import OpOverload, pytree

Place = tuple[int, ...]
"""Where a tensor is in an op's value: `()` for the value itself, `(1, 0)` for the first item of its second."""
Slot = tuple[Node, Place]
"""A tensor of a graph: the node that yields it, and its place there."""
Moment = tuple[Node, Place, Node]
"""A slot, just after the node that made it or wrote to it."""

# Between such a pair of calls tensors differ from those outside (vmap's lack a dimension): none can be an output.
_OPENS = re.compile(r"_increment_nesting$|^_?enter_(?!autocast)")
_CLOSES = re.compile(r"_decrement_nesting$|^_?exit_(?!autocast)")
# These write to running statistics, and torch does not count that as a write.
_WRITES_UNSEEN = re.compile(r"batch_norm|instance_norm")
# What these yield is whatever the memory holds.
_UNINITIALISED = re.compile(r"\b(new_)?empty(_like|_strided|_permuted)?\b")
# These bring tensors into a region, and out of it.
_PASSES_ON = re.compile(r"_functorch\b")
# Numbers that depend on the values of a tensor. Not every backend can return one from a graph, so they aren't watched.
_NUMBERS = re.compile(r"\b(item|tolist|_local_scalar_dense)\b")
# These read memory as it lies there, and a copy may lie there in another way.
_READS_MEMORY = re.compile(r"\bas_strided(_copy)?\b")
_CALLS = ("call_function", "call_method", "call_module")
_HELD = re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]")
_LOCAL = re.compile(r"^[LG]\['([^']+)'\]")
_SHOWN = "what the input of a graph is"
_INPUT = "input "
"""Begins the name of an input whose own name another node has, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """A tensor that an op takes, by the name of the node that yields it; an input of the graph by what it is."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.shape)}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphOp:
    """An op that computes tensors, or a region of ops whose values exist only inside it."""

    nodes: tuple[Node, ...]
    """The op itself; or all nodes of the region, from the one that opens it to the one that closes it."""
    computing: tuple[Node, ...]
    """The op itself; or those of the region that compute tensors."""
    position: int
    """Of the first of these in the graph, counted from 1 among those that compute tensors; 0 if it computes nothing,
    and only picks an item of a result."""
    operands: tuple[Operand, ...]
    before: tuple[Moment, ...]
    """The tensors that it takes, each at the last moment before it."""
    after: tuple[Moment, ...]
    """The tensors that it yields, and those that it writes to."""
    numbers: tuple[Node, ...] = ()
    """The nodes that compute the sizes and other whole numbers which it takes."""
    doubt: str = ""
    """Why it is not to blame, even if its result is not that of eager."""
    hidden: str = ""
    """Why its result can't be watched at all."""

    @property
    def size(self) -> int:
        """As how many ops it counts."""
        return len(self.computing) if self.position else 0

    @property
    def node(self) -> Node:
        """The op itself; or the last one of the region."""
        return self.computing[-1]

    @property
    def name(self) -> str:
        """As the user would write it: `torch.relu`, `Tensor.add_`, `operator.add`."""
        if len(self.computing) == 1:
            return op_name(self.node)
        return f"one of the {len(self.computing)} ops from {op_name(self.computing[0])} to {op_name(self.node)}"

    @property
    def source(self) -> str:
        lines = dict.fromkeys(map(source_line, self.computing))
        return " to ".join(list(lines)[:: max(1, len(lines) - 1)])

    @property
    def writes(self) -> bool:
        """Whether it changes tensors that it did not make."""
        return any(moment[0] not in self.nodes for moment in self.after)

    def writes_directly(self, moment: Moment) -> bool:
        """Whether it yields this tensor, or is called to write to it; and does not only write to memory that this
        shares."""
        return moment[0] in self.nodes or any(moment[0] in _written_by_name(node) for node in self.nodes)

    def yields_anything(self, moment: Moment) -> bool:
        """Whether it only allocates this tensor, so that its values are arbitrary."""
        return moment[0] in self.nodes and bool(_UNINITIALISED.search(op_name(moment[0])))


def _written_by_name(node: Node) -> list[Node]:
    """The operands that an op is called to write to: what its schema says, `out`, or the first one."""
    if isinstance(node.target, OpOverload):
        schema = node.target._schema.arguments
        mutable = [at for at, each in enumerate(schema) if each.alias_info is not None and each.alias_info.is_write]
        given = [*(node.args[at] for at in mutable if at < len(node.args))]
        given += [node.kwargs[schema[at].name] for at in mutable if schema[at].name in node.kwargs]
    else:
        statistics = node.args[:3] if _WRITES_UNSEEN.search(op_name(node)) else node.args[:1]
        given = [*statistics, node.kwargs.get("input"), node.kwargs.get("out")]
    return [each for each in pytree.tree_leaves(given) if isinstance(each, Node)]


class OpsOfGraph:
    """The ops of a graph, in order. The graph is run once to find them, which may change `inputs`."""

    def __init__(self, graph: GraphModule, inputs: Sequence[Any]) -> None:
        self.graph = graph
        self._nodes = list(graph.graph.nodes)
        self._order = {node: at for at, node in enumerate(self._nodes)}
        self._seen = _Observer(graph).observe(inputs)
        self._regions = {node: region for region in self._find_regions() for node in region}
        self.ops = tuple(self._find_ops())
        self.picks = tuple(self._find_picks())
        """Where an item of an op's result is taken: no op of the user's, and it may be the wrong item."""

    @property
    def outputs(self) -> list[Any]:
        """What the graph returns: nodes, or plain values."""
        return list(self._nodes[-1].args[0])

    def returning(
        self, moments: Sequence[Moment], again: Sequence[Moment] = (), numbers: Sequence[Node] = ()
    ) -> GraphModule:
        """The graph with further outputs: copies of tensors as they are at these moments; of some a second one that is
        made in another way; and numbers."""
        asked: dict[Node, list[Slot]] = defaultdict(list)
        for node, place, when in dict.fromkeys([*moments, *again]):
            asked[when].append((node, place))
        graph = Graph()
        copies: dict[Node, Node] = {}
        taken: dict[Moment, Node] = {}
        repeated: dict[Moment, Node] = {}
        for node in self._nodes[:-1]:
            copies[node] = graph.node_copy(node, copies.__getitem__)
            for maker, place in asked[node]:
                # Detached, so that the backward stays as it is; a copy, so that it shares memory with nothing.
                tensor = graph.call_method("detach", (pick(graph, copies[maker], place),))
                moment = maker, place, node
                taken[moment] = graph.call_method("clone", (tensor,))
                if moment in again:
                    dtype = getattr(torch, self._seen.tensors[maker][place].dtype)
                    repeated[moment] = graph.call_method("to", (tensor, dtype), {"copy": True})
        own = (copies[each] if isinstance(each, Node) else each for each in self.outputs)
        more = (*(taken[each] for each in moments), *(repeated[each] for each in again), *(copies[n] for n in numbers))
        graph.output((*own, *more))
        return copy.deepcopy(GraphModule(self.graph, graph))  # a compiler may change what the graph refers to

    def with_control(self) -> GraphModule | None:
        """The graph with three further outputs that are known, made at its end: a tensor of zeros, copied, filled with
        ones, copied again in the same way, and as it is then. None if there is no input to make it of."""
        inputs = [node for node in self._nodes if node.op == "placeholder" and self.is_tensor(node)]
        graph, copies = Graph(), dict[Node, Node]()
        for node in self._nodes[:-1]:
            copies[node] = graph.node_copy(node, copies.__getitem__)
        if not inputs:
            return None
        own = [copies[each] if isinstance(each, Node) else each for each in self.outputs]
        written = graph.call_function(torch.zeros_like, (copies[inputs[0]],))
        first = graph.call_method("clone", (graph.call_method("detach", (written,)),))
        graph.call_method("fill_", (written, 1))
        second = graph.call_method("clone", (graph.call_method("detach", (written,)),))
        graph.output((*own, first, second, written))
        return copy.deepcopy(GraphModule(self.graph, graph))

    def _find_regions(self) -> Iterator[tuple[Node, ...]]:
        depth, opened = 0, 0
        for at, node in enumerate(self._nodes):
            name = str(getattr(node.target, "__name__", ""))
            before, depth = depth, depth + bool(_OPENS.search(name)) - bool(_CLOSES.search(name))
            if depth > 0 and before == 0:
                opened = at
            elif depth == 0 and before > 0:
                yield tuple(self._nodes[opened : at + 1])

    def _find_ops(self) -> Iterator[GraphOp]:
        position = 1
        for node in self._nodes:
            nodes = self._regions.get(node, (node,))
            computing = [each for each in nodes if self._computes(each)] if node is nodes[-1] else []
            if computing:
                own = tuple(each for each in computing if not _PASSES_ON.search(op_name(each))) or tuple(computing)
                yield self._op(nodes, own, position)
                position += len(own)

    def _computes(self, node: Node) -> bool:
        """Whether it yields tensors, or writes to some."""
        changes = self._seen.tensors[node] or self._seen.writes[node] or node in self._seen.unplaced
        return node.op in _CALLS and bool(changes) and not self.picks_an_item(node)

    def _op(self, nodes: tuple[Node, ...], computing: tuple[Node, ...], position: int) -> GraphOp:
        taken = dict.fromkeys(each for inner in nodes for each in inner.all_input_nodes if each not in nodes)
        slots = [(each, place) for each in taken for place in self._seen.tensors[each]]
        leaving = [node for node in nodes if len(nodes) == 1 or any(user not in nodes for user in node.users)]
        yielded = ((node, place) for node in leaving for place in self._seen.tensors[node])
        written = (slot for inner in nodes for slot in self._seen.writes[inner] if slot[0] not in nodes)
        return GraphOp(
            nodes=nodes,
            computing=computing,
            position=position,
            operands=tuple(self._seen.tensors[each][place] for each, place in slots),
            before=tuple((*slot, self.last_change(slot, nodes[0])) for slot in slots),
            after=tuple((*slot, nodes[-1]) for slot in dict.fromkeys([*yielded, *written])),
            numbers=tuple(node for node in taken if node.op in _CALLS and node in self._seen.numbers),
            doubt=self._doubt(computing, taken),
            hidden="its results can't be taken one by one" if self._seen.unplaced.intersection(computing) else "",
        )

    def _doubt(self, computing: Sequence[Node], taken: Iterable[Node]) -> str:
        for number in (op_name(maker) for each in taken for maker in self._makers_of_number(each)):
            return f"it takes a number that {number} computed, which can't be watched"
        if any(_READS_MEMORY.search(op_name(node)) for node in computing):
            return "it reads the memory of its operand as it lies there, and that can't be watched"
        if self._seen.random[:1] != [*computing] and set(computing).intersection(self._seen.random):
            return "it draws random numbers after others did: they may be others than in eager"
        return ""

    def _find_picks(self) -> Iterator[GraphOp]:
        for node in self._nodes:
            if node not in self._regions and self.picks_an_item(node) and self._seen.tensors[node]:
                yield self._op((node,), (node,), 0)

    def _makers_of_number(self, node: Node) -> Iterator[Node]:
        """The ops by which the values of tensors decide a number."""
        if node.op in _CALLS and not self._seen.tensors[node]:
            if _NUMBERS.search(op_name(node)):
                yield node
            for each in node.all_input_nodes:
                yield from self._makers_of_number(each)

    def just_before(self, op: GraphOp) -> list[Moment]:
        """The tensors that it takes, just before it does; of those that something else comes in between."""
        before = self._nodes[self._order[op.nodes[0]] - 1]
        inside = before in self._regions and before is not self._regions[before][-1]
        return [(node, place, before) for node, place, when in op.before if when is not before and not inside]

    def number(self, node: Node) -> Any:
        """What eager has for a node that yields a whole number."""
        return self._seen.numbers[node]

    def draws_random_numbers(self, op: GraphOp) -> bool:
        return any(node in self._seen.random for node in op.nodes)

    def is_written(self, node: Node) -> bool:
        return (node, ()) in self._seen.writers

    def between(self, node: Node, op: GraphOp) -> list[GraphOp]:
        """The ops that run after a node and before an op."""
        return [each for each in self.ops if self._order[node] < self._order[each.nodes[0]] < self._order[op.nodes[0]]]

    def in_order(self, ops: Iterable[GraphOp]) -> list[GraphOp]:
        return sorted(ops, key=lambda op: self._order[op.nodes[0]])

    def inputs_of(self, op: GraphOp) -> list[Moment]:
        """The inputs of the graph that it takes as they are, before the first op."""
        last = self.graph.graph.find_nodes(op="placeholder")[-1:]
        return [(node, (), when) for node, _, made in op.before if made.op == "placeholder" for when in last]

    def untouched_input(self) -> list[Moment]:
        """The smallest tensor among the inputs that no op writes to, after the first op; empty if there is none."""
        inputs = [node for node in self._nodes if node.op == "placeholder" and self.is_tensor(node)]
        sizes = {node: math.prod(self._seen.tensors[node][()].shape) for node in inputs}
        kept = [node for node in inputs if (node, ()) not in self._seen.writers and sizes[node] > 1]
        return [(node, (), op.nodes[-1]) for node in sorted(kept, key=sizes.__getitem__)[:1] for op in self.ops[:1]]

    @property
    def count(self) -> int:
        """How many ops compute tensors; each op of a region counts."""
        return sum(op.size for op in self.ops)

    @property
    def has_writes(self) -> bool:
        return any(self._seen.writes.values())

    @property
    def has_regions(self) -> bool:
        return bool(self._regions)

    def has_tensors(self, node: Node) -> bool:
        return bool(self._seen.tensors[node])

    def is_tensor(self, node: Node) -> bool:
        return () in self._seen.tensors[node]

    def last_change(self, slot: Slot, before: Node | None = None) -> Node:
        """The node that made or wrote to a tensor last, before another node or the end."""
        end = len(self._nodes) if before is None else self._order[before]
        writers = [node for node in self._seen.writers.get(slot, ()) if self._order[node] < end]
        last = writers[-1] if writers else slot[0]
        return self._regions[last][-1] if last in self._regions else last

    def picks_an_item(self, node: Node) -> bool:
        """Whether the node only takes an item of the value of another op. Then it does not count as an op."""
        if node.target is not operator.getitem or not isinstance(node.args[0], Node):
            return False
        return () not in self._seen.tensors[node.args[0]]


@dataclass(slots=True)
class _Seen:
    tensors: dict[Node, dict[Place, Operand]] = field(default_factory=dict)
    """What each node yields."""
    writes: dict[Node, list[Slot]] = field(default_factory=dict)
    """What each node writes to, besides what it yields: through any name for the same memory."""
    writers: dict[Slot, list[Node]] = field(default_factory=lambda: defaultdict(list))
    numbers: dict[Node, Any] = field(default_factory=dict)
    """The nodes that yield a whole number."""
    unplaced: set[Node] = field(default_factory=set)
    """The nodes that yield tensors inside of something else than tuples and lists."""
    random: list[Node] = field(default_factory=list)
    """The nodes that draw random numbers."""


class _Observer(Interpreter):
    """Run a graph, and note which tensors each node yields and writes to."""

    def __init__(self, graph: GraphModule) -> None:
        super().__init__(graph)
        self._seen = _Seen()
        self._versions: dict[Slot, tuple[Tensor, int]] = {}

    def observe(self, inputs: Sequence[Any]) -> _Seen:
        with torch.set_grad_enabled(torch.is_grad_enabled()):  # the graph may set it, and not set it back
            self.run(*inputs)
        return self._seen

    def run_node(self, n: Node) -> Any:
        read = n.all_input_nodes if _WRITES_UNSEEN.search(op_name(n)) else []
        before = {each: self.env[each].clone() for each in read if isinstance(self.env[each], Tensor)}
        state = random_state()
        value = super().run_node(n)
        if n.op in _CALLS and any(not torch.equal(*both) for both in zip(state, random_state(), strict=True)):
            self._seen.random.append(n)
        changed = [slot for slot, (tensor, version) in self._versions.items() if _version(tensor) != version]
        changed += [(each, ()) for each, tensor in before.items() if not torch.equal(self.env[each], tensor)]
        changed = self._with_shared_memory(changed)
        self._versions |= {slot: (tensor, _version(tensor)) for slot in changed for tensor in [self._versions[slot][0]]}
        self._seen.writes[n] = changed
        for slot in changed:
            self._seen.writers[slot].append(n)
        tensors = tensors_by_place(value)
        if isinstance(value, int):
            self._seen.numbers[n] = value
        elif len(tensors) < sum(isinstance(each, Tensor) for each in pytree.tree_leaves(value)):
            self._seen.unplaced.add(n)
        self._versions |= {(n, place): (tensor, _version(tensor)) for place, tensor in tensors.items()}
        self._seen.tensors[n] = {place: _describe_tensor(n, tensor) for place, tensor in tensors.items()}
        return value

    def _with_shared_memory(self, slots: Sequence[Slot]) -> list[Slot]:
        """`y.data` has the memory of `y`, and counts its writes by itself."""
        memory = {memory_of(self._versions[slot][0]) for slot in slots} - {None}
        shared = (slot for slot, (tensor, _) in self._versions.items() if memory and memory_of(tensor) in memory)
        return list(dict.fromkeys([*slots, *shared]))


def name_inputs(graph: GraphModule) -> None:
    """Note what each input of Dynamo's graph is: the path of a parameter or a buffer, or the name of an argument."""
    for node in graph.graph.find_nodes(op="placeholder"):
        if (source := getattr(node.meta.get("grapharg"), "source", None)) is not None:
            name = source.name() if callable(source.name) else source.name  # a method in older releases
            path = _LOCAL.sub(r"\1", _HELD.sub(r".\1", name))
            _note_name(node, re.sub(r"^(self|fn)\.", "", path) if _HELD.search(name) else path)


def copy_names_of_inputs(graph: GraphModule, other: GraphModule) -> None:
    """The inputs of the other graph are the same, in the same order."""
    both = (each.graph.find_nodes(op="placeholder") for each in (graph, other))
    for node, same in zip(*both, strict=True):
        _note_name(same, shown_name(node).removeprefix(_INPUT))


def _note_name(node: Node, name: str) -> None:
    taken = any(name in (other.name, shown_name(other)) for other in node.graph.nodes if other is not node)
    node.meta[_SHOWN] = f"{_INPUT}{name}" if taken else name


def shown_name(node: Node) -> str:
    """What an input of the graph is, if that is known; else the name of the node."""
    return str(node.meta.get(_SHOWN, node.name))


def _version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def _describe_tensor(node: Node, tensor: Tensor) -> Operand:
    return Operand(name=shown_name(node), dtype=str(tensor.dtype).removeprefix("torch."), shape=tuple(tensor.shape))


def tensors_by_place(value: Any) -> dict[Place, Tensor]:
    """The tensors in nested tuples and lists. What is in other objects can't be picked by an index."""
    if isinstance(value, Tensor):
        return {(): value}
    items = enumerate(value) if isinstance(value, tuple | list) else ()
    return {(at, *place): tensor for at, item in items for place, tensor in tensors_by_place(item).items()}


def value_at(value: Any, place: Place) -> Any:
    """A value, or an item of it."""
    for item in place:
        value = value[item]
    return value


def pick(graph: Graph, node: Node, place: Place) -> Node:
    """A node, or an item of its value."""
    for item in place:
        node = graph.call_function(operator.getitem, (node, item))
    return node
