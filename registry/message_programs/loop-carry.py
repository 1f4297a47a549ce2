"""The body of a `while_loop` gets a tensor of float32 and returns one of float64.
What one round returns is what the next round gets, so both must be the same kind."""

import torch
from torch._higher_order_ops import while_loop


def run(body):
    start = (torch.zeros((), dtype=torch.int64), torch.ones(4))
    compiled = torch.compile(lambda i, x: while_loop(lambda i, x: i < 3, body, (i, x)), backend="eager")
    return compiled(*start)[1]


def message():
    run(lambda i, x: (i + 1, x.double() * 2))


def fixed():
    """Use this when a round needs another dtype inside: convert the result back."""
    return run(lambda i, x: (i + 1, (x.double() * 2).to(x.dtype)))


def eager():
    x = torch.ones(4)
    for _ in range(3):
        x = (x.double() * 2).to(x.dtype)
    return x
