"""Threads that go on when the main one is done."""

import threading
import time

import torch


@torch.compile(backend="eager")
def work(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    torch._dynamo.graph_break()
    return y * 2


def repeat(times: int) -> None:
    time.sleep(0.2)
    for _ in range(times):
        work(torch.ones(2))


for _ in range(3):
    threading.Thread(target=repeat, args=(50,)).start()
