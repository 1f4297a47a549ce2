"""Breaks, then fails in a function."""

import torch


@torch.compile(backend="eager")
def work(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


def fail() -> float:
    return 1 / 0


work(torch.ones(2))
fail()
