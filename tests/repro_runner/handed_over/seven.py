#!/usr/bin/env python
# mypy: ignore-errors
# ruff: noqa: E702, I001
# fmt: off
"""A program with seven places at which graphs break, and an eighth in another file: für Prüfungen."""

from __future__ import annotations

import contextlib
import sys
import time

import torch

from elsewhere import Queue, measured

OFFSET = 1  # of every step


class Scale(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((6,), 2.0))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        print("scaling", x.shape, f"by {self.weight.shape[0]} weights")  # GB0059
        return x * self.weight


def choose(x):
    # Größer oder kleiner?
    if x.sum() > 0:  # GB0170
        return x + OFFSET
    return x - OFFSET


def shift(x): return x + x.sum().item()  # GB0124


def stamp(x):
    return x * (time.time() > 0)  # GB0007


def explicit(x):
    x = x + 1; torch._dynamo.graph_break(); return x * 3  # GB0025


def repeated(x):
    for _ in range(3):
        x = x + 1
        torch._dynamo.graph_break()  # GB0025 and GB7000
    return x


@contextlib.contextmanager
def quietly():
    yield


def guarded(x):
    with quietly():
        x = x + 1
        torch._dynamo.graph_break()
    return x


scale = Scale()
queue = Queue()


@torch.compile(backend="eager")
def model(x):
    x = scale(x)
    x = choose(x)
    x = shift(x)
    x = stamp(x)
    x = explicit(x)
    x = repeated(x)
    x = guarded(x)
    return measured(x, queue)


if __name__ == "__main__":
    torch.manual_seed(int(sys.argv[1]))
    for _ in range(3):
        print(round(float(model(torch.randn(2, 6)).sum().detach()), 3))
