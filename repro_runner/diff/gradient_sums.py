"""The gradient of a value is the sum of those that its uses have: the tensors of a graph with their uses, and whether
a gradient is such a sum."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node

from repro_runner.diff.added_zeros import Spot, operands_of, slot_of
from repro_runner.diff.comparison import LeafComparison
from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.execution import memory_of
from repro_runner.diff.graph_ops import OpsOfGraph, Slot, shown_name
from repro_runner.diff.judging import differing
from repro_runner.torch_seams import pytree
from repro_runner.values import tolerance_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Value:
    """A tensor of a graph that has a gradient, with everything that takes it."""

    name: str
    maker: Node
    result: Spot | None
    """None for an input of the graph, whose gradient can be seen as it is."""
    uses: tuple[Spot, ...]
    """By ops."""
    returned: tuple[int, ...]
    """Which outputs of the graph it is."""


def values_of(ops: OpsOfGraph, computed: Mapping[Node, Any]) -> list[Value]:
    """The inputs and the results of ops that have gradients; without those of which some uses can't be seen. An output
    that is a view of another, or of an input, is no view any more once a zero is added."""
    known = {op.node for op in ops.ops}
    outside = {*ops.outputs, *ops.graph.graph.find_nodes(op="placeholder")}
    memory = Counter(memory_of(computed[each]) for each in outside if isinstance(each, Node))
    nodes: dict[Slot, list[Node]] = defaultdict(list)
    for node in computed:
        if node in known or node.op == "placeholder" or ops.picks_an_item(node):
            nodes[slot_of(node, ops)].append(node)
    found = []
    for (maker, place), same in nodes.items():
        if not isinstance(computed[same[0]], Tensor) or not computed[same[0]].requires_grad:
            continue
        users = dict.fromkeys(user for node in same for user in node.users if user.op != "output")
        takers = [user for user in users if _has_tensors(computed[user])]
        uses = tuple(spot for user in takers for spot in operands_of(user) if spot[1] in same)
        returned = tuple(at for at, each in enumerate(ops.outputs) if each in same)
        is_alone = not returned or memory[memory_of(computed[same[0]])] == 1
        if is_alone and is_picked_apart(maker, ops) and known.issuperset(takers):
            result = None if maker.op == "placeholder" else (maker, maker, place)
            found.append(Value(name=shown_name(same[0]), maker=maker, result=result, uses=uses, returned=returned))
    return found


def is_picked_apart(node: Node, ops: OpsOfGraph) -> bool:
    """Whether the value is a tensor, or has none; or everything that takes it picks an item by its place."""
    if ops.is_tensor(node) or not ops.has_tensors(node):
        return True
    return all(slot_of(user, ops)[0] is not user and is_picked_apart(user, ops) for user in node.users)


def _has_tensors(value: Any) -> bool:
    return any(isinstance(leaf, Tensor) for leaf in pytree.tree_leaves(value))


def unlike_sum(name: str, total: Tensor, terms: Sequence[Tensor], config: ComparisonConfig) -> LeafComparison | None:
    """How a gradient differs from the sum of those of its uses; None if it does not.

    Terms may cancel each other out, and each is rounded: so the tolerance is relative to the sum of their sizes, and
    grows with their number.
    """
    if any(term.shape != total.shape or term.layout != torch.strided for term in (total, *terms)):
        return None
    rtol, atol = config.tolerance(total.dtype)
    rtol = max(rtol, tolerance_of(total.dtype).rtol)
    wide = torch.complex128 if total.is_complex() else torch.float64
    expected = torch.stack([term.to(wide) for term in terms]).sum(dim=0)
    size = torch.stack([term.to(wide).abs() for term in terms]).sum(dim=0)
    close = (total.to(wide) - expected).abs() <= len(terms) * (atol + rtol * size)
    # Where a term is not finite, or the sum is too large for the dtype, anything may come out.
    if bool((close | ~(size <= torch.finfo(total.dtype).max)).all()):
        return None
    path = (f"gradient of {name}",)
    return next(iter(differing({path: expected.to(total.dtype)}, {path: total}, config, "gradient").values()), None)
