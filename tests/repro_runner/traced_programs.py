"""Programs traced to their forward and backward, for tests of what looks at graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from repro_runner.graphs.traced import TracedGraph, tracing_backend


def traced(program: Callable[..., Any], inputs: Sequence[Any], *, dynamic: bool | None = False) -> TracedGraph:
    """The one graph that a program becomes."""
    graphs: list[TracedGraph] = []
    torch._dynamo.reset()
    torch.compile(program, backend=tracing_backend(graphs), dynamic=dynamic, fullgraph=True)(*inputs)
    torch._dynamo.reset()
    (graph,) = graphs
    return graph


class AttentionBlock(torch.nn.Module):
    """A layer of BERT, small: attention, a residual, a feed-forward part."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.to_qkv = torch.nn.Linear(width, 3 * width)
        self.to_out = torch.nn.Linear(width, width)
        self.norm = torch.nn.LayerNorm(width)
        self.feed = torch.nn.Sequential(
            torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        shape = (batch, length, 3, self.heads, width // self.heads)
        q, k, v = self.to_qkv(self.norm(x)).view(shape).permute(2, 0, 3, 1, 4)
        attended = torch.softmax(q @ k.transpose(-1, -2) / 4, -1) @ v
        x = x + self.to_out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.feed(x)  # type: ignore[no-any-return]
