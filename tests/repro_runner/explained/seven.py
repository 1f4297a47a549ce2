"""Seven lines that break, each for another reason, and a change of shape half-way: `python seven.py 4 4 5 5 5`."""

import contextlib
import sys
import time
from collections.abc import Iterator

import torch


def say(x: torch.Tensor) -> torch.Tensor:
    print("saying")
    return x * 2


def choose(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x + 1
    return x - 1


def shift(x: torch.Tensor) -> torch.Tensor:
    return x + x.sum().item()


def stamp(x: torch.Tensor) -> torch.Tensor:
    return x * (time.time() > 0)


def divide(x: torch.Tensor) -> torch.Tensor:
    x = x + 1
    torch._dynamo.graph_break()
    return x * 3


def repeat(x: torch.Tensor) -> torch.Tensor:
    for _ in range(3):
        x = x + 1
        torch._dynamo.graph_break()
    return x


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    yield


def guard(x: torch.Tensor) -> torch.Tensor:
    with quietly():
        x = x + 1
        torch._dynamo.graph_break()
    return x


def model(x: torch.Tensor) -> torch.Tensor:
    return guard(repeat(divide(stamp(shift(choose(say(x)))))))


if __name__ == "__main__":
    torch.manual_seed(0)
    compiled = torch.compile(model, backend="eager")
    for size in map(int, sys.argv[1:]):
        compiled(torch.rand(size))
