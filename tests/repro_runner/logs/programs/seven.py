"""Seven lines that break a graph, each in a way of its own; five calls, of which the third recompiles.

TORCH_LOGS=+dynamo python seven.py
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import torch


def scale(x: torch.Tensor) -> torch.Tensor:
    print("scaling")
    return x * 2


def choose(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x + 1
    return x - 1


def shift(x: torch.Tensor) -> torch.Tensor:
    return x + x.sum().item()


def stamp(x: torch.Tensor) -> torch.Tensor:
    return x * (time.time() > 0)


def explicit(x: torch.Tensor) -> torch.Tensor:
    x = x + 1
    torch._dynamo.graph_break()
    return x * 3


def repeated(x: torch.Tensor) -> torch.Tensor:
    for _ in range(3):
        x = x + 1
        torch._dynamo.graph_break()
    return x


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    yield


def guarded(x: torch.Tensor) -> torch.Tensor:
    with quietly():
        x = x + 1
        torch._dynamo.graph_break()
    return x


def model(x: torch.Tensor) -> torch.Tensor:
    x = scale(x)
    x = choose(x)
    x = shift(x)
    x = stamp(x)
    x = explicit(x)
    x = repeated(x)
    return guarded(x)


if __name__ == "__main__":
    torch.manual_seed(0)
    compiled = torch.compile(model, backend="eager")
    for size in (4, 4, 5, 5, 5):
        compiled(torch.randn(size).abs())
