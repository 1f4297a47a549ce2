"""The block that breaks are put into: the same layers and the same numbers, however many breaks there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

BREAKS = (0, 1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockShape:
    """So many layers, each `x + relu(linear(norm(x)))`, on a matrix of `rows` × `width`."""

    name: str
    layers: int
    width: int
    rows: int


SHAPES = {
    ("full", "cpu"): (
        BlockShape(name="small", layers=32, width=64, rows=32),
        BlockShape(name="large", layers=32, width=512, rows=128),
    ),
    ("full", "cuda"): (
        BlockShape(name="small", layers=32, width=64, rows=32),
        BlockShape(name="large", layers=32, width=2048, rows=4096),
    ),
    ("tiny", "cpu"): (BlockShape(name="tiny", layers=2, width=8, rows=4),),
    ("tiny", "cuda"): (BlockShape(name="tiny", layers=2, width=8, rows=4),),
}
"""(size, device) -> where a break is much of the work, and where it is little of it. A GPU needs more work for that."""


class _Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.relu(self.linear(self.norm(x)))


def make_layers(shape: BlockShape) -> nn.ModuleList:
    """The layers that all variants of a block share."""
    return nn.ModuleList(_Layer(shape.width) for _ in range(shape.layers)).eval()


def block_with_breaks(layers: nn.ModuleList, breaks: int) -> Callable[[Tensor], Tensor]:
    """A function of its own, with so many breaks spread evenly between the layers.

    It is written out line by line: a break inside a loop is another matter, since Dynamo then gives the loop up whole.
    """
    after = break_places(len(layers), breaks)
    lines = ["def block(x):"]
    for place in range(len(layers)):
        lines.append(f"    x = layers[{place}](x)")
        if place + 1 in after:
            lines.append("    torch._dynamo.graph_break()")
    lines.append("    return x")
    names: dict[str, Any] = {"layers": layers, "torch": torch}
    # A file name of its own: Dynamo takes code that is equal, name included, for one that it knows.
    exec(compile("\n".join(lines), f"<block {id(layers)} with {breaks} breaks>", "exec"), names)
    block: Callable[[Tensor], Tensor] = names["block"]
    return block


def break_places(layers: int, breaks: int) -> frozenset[int]:
    """After how many layers a break comes."""
    return frozenset(round(layers * (at + 1) / (breaks + 1)) for at in range(breaks))
