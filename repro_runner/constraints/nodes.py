"""Facts about a node of a graph: its op, its tensors, the user's line it comes from, and whether it computes anything.

Everything symbolic is turned into plain values here, once. A SymInt in an `if` or a comparison adds a guard, and a
guard can recompile the user's program; a constraint that is handed no SymInt can't do that.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.experimental import symbolic_shapes

from repro_runner.torch_seams import HigherOrderOperator, OpOverload, local_scalar_dense, pytree

_FRAME = re.compile(r'^\s*File "(?P<file>.+)", line (?P<line>\d+)', re.MULTILINE)
_TORCH = f"{Path(torch.__file__).parent}{os.sep}"
# Both promise to add no guard; torch 2.11 and older have the second.
_hint = getattr(symbolic_shapes, "optimization_hint", None) or getattr(symbolic_shapes, "hint_int")  # noqa: B009


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedTensor:
    """A tensor of a traced graph, in plain values.

    A dynamic dimension is its symbol ("s77") in `shape`, and in `sizes` the size it had when the graph was compiled.
    One that depends on data ("u0") had no size yet: None.
    """

    dtype: torch.dtype
    layout: torch.layout
    shape: tuple[int | str, ...]
    sizes: tuple[int | None, ...]
    strides: tuple[int | None, ...] = ()

    @classmethod
    def of(cls, tensor: torch.Tensor) -> TracedTensor:
        # A sparse tensor has no strides, and asking for them raises.
        strides = tensor.stride() if tensor.layout == torch.strided else ()
        return cls(
            dtype=tensor.dtype,
            layout=tensor.layout,
            shape=tuple(size if isinstance(size, int) else str(size) for size in tensor.shape),
            sizes=tuple(plain_size(size) for size in tensor.shape),
            strides=tuple(plain_size(stride) for stride in strides),
        )

    def __str__(self) -> str:
        return f"{str(self.dtype).removeprefix('torch.')}[{', '.join(map(str, self.shape))}]"


def plain_size(size: int | torch.SymInt) -> int | None:
    """The size itself, or the one that a symbol had when the graph was compiled; None if it had none. Adds no guard."""
    if isinstance(size, int):
        return size
    return None if symbolic_shapes.has_free_unbacked_symbols(size) else int(_hint(size))


def node_value(node: Any) -> Any:
    """The value that the tracer recorded: AOTAutograd keeps it in `val`, Dynamo in `example_value`. What is no node has
    none."""
    return node.meta.get("val", node.meta.get("example_value")) if isinstance(node, Node) else None


def fake_tensors(node: Node) -> Iterator[torch.Tensor]:
    """The tensors that a node stands for, as the tracer had them."""
    return (leaf for leaf in pytree.tree_leaves(node_value(node)) if isinstance(leaf, torch.Tensor))


def tensors_of(node: Node) -> Iterator[TracedTensor]:
    """The tensors that a node stands for, in plain values."""
    return map(TracedTensor.of, fake_tensors(node))


def traced_tensors(node: Node) -> Iterator[TracedTensor]:
    """The tensors that a node produces. What `getitem` picks from a tuple was produced by the op before it, and is
    reported there."""
    return iter(()) if picks_from_a_tuple(node) else tensors_of(node)


def picks_from_a_tuple(node: Node) -> bool:
    """Is it a `getitem` on a tuple? Before AOTAutograd, one can also index a tensor, which makes a new tensor."""
    if node.target is not operator.getitem:
        return False
    picked_from = node.args[0]
    return not (isinstance(picked_from, Node) and isinstance(node_value(picked_from), torch.Tensor))


def op_name(node: Node) -> str:
    """`aten.mm.default`, `higher_order.cond`, before AOTAutograd `torch.matmul` or `Tensor.view`, or the kind of a node
    that calls nothing: `placeholder`, `get_attr`."""
    if node.op == "call_method":
        return f"Tensor.{node.target}"
    if node.op != "call_function":
        return node.op
    if isinstance(node.target, HigherOrderOperator):
        return f"{node.target.namespace}.{node.target}"
    if isinstance(node.target, OpOverload):
        return str(node.target)
    # `__module__` of a builtin function of torch can be None.
    module = getattr(node.target, "__module__", None) or "torch"
    return f"{module}.{getattr(node.target, '__name__', node.target)}".lstrip("._")


def source_line(node: Node) -> str:
    """`file:line` of the user's code, "" if unknown. An input of the graph has the line that uses it first."""
    for candidate in (node, *node.users):
        if candidate.stack_trace:
            return _innermost_user_frame(candidate.stack_trace)
    return ""


def _innermost_user_frame(stack_trace: str) -> str:
    """The last frame outside torch: `Normal.log_prob` is not the user's code, the call of it is."""
    frames = [(frame["file"], frame["line"]) for frame in _FRAME.finditer(stack_trace)]
    own = [frame for frame in frames if not frame[0].startswith(_TORCH)]
    file, line = (own or frames or [("", "")])[-1]
    return f"{file}:{line}" if file else ""


def is_op(node: Node) -> bool:
    """Does the node compute with tensors? Arithmetic on sizes, and reading a tensor's size, do not count."""
    if isinstance(node.target, OpOverload):
        return not node.target._schema.name.startswith("aten::sym_") and _touches_tensors(node)
    return isinstance(node.target, HigherOrderOperator)


def is_move(node: Node) -> bool:
    """Does the node only move a result? `item()` does, and AOTAutograd's write into an input that the model changed."""
    if node.target is local_scalar_dense:
        return True
    if node.target is not torch.ops.aten.copy_.default:
        return False
    return isinstance(node.args[0], Node) and node.args[0].op == "placeholder"


def is_random(node: Node) -> bool:
    """Does the node draw random numbers? Then its order among all such nodes matters."""
    if isinstance(node.target, OpOverload):
        return torch.Tag.nondeterministic_seeded in node.target.tags
    regions = [region for each in node.all_input_nodes if (region := branch(each)) is not None]
    return any(is_random(inner) for region in regions for inner in region.graph.nodes)


def tuple_maker(node: Node) -> Node | None:
    """The op that made the tuple from which this `getitem` picks; None for any other node."""
    if node.target is operator.getitem and isinstance(node.args[0], Node):
        return tuple_maker(node.args[0]) or node.args[0]
    return None


def branch(node: Node) -> GraphModule | None:
    """The graph that a node stands for as an operand of a higher-order op; None if it is no graph."""
    if node.op != "get_attr" or node.graph.owning_module is None:
        return None
    value = getattr(node.graph.owning_module, str(node.target), None)
    return value if isinstance(value, GraphModule) else None


def _touches_tensors(node: Node) -> bool:
    return any(True for touched in (node, *node.all_input_nodes) for _ in fake_tensors(touched))
