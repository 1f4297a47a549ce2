"""Augmentation or dropout draws a number with Python's `random`. Dynamo has
rules for a few of its functions, and skips the others: `random`, `choice`,
`shuffle`, `seed`."""
import random

import torch
from torch._dynamo.decorators import skip

TITLE = "random.random()"


def brighten(x, amount):
    return (x * amount).clamp(-1, 1)


def inputs():
    random.seed(int(torch.randint(1000, ())))
    return (torch.randn(8),)


def broken(x):
    amount = 0.9 + 0.2 * random.random()
    return (x * amount).clamp(-1, 1)


@skip
def fixed(x):
    """Use this when you need the same random numbers as before. Draw them in
    the caller, and pass them in (`skip` stands for a caller that you don't
    compile). In new code, use `torch.rand`, which draws inside the graph.
    `random.uniform` doesn't break, but in torch 2.13.0 Inductor computes wrong
    results with it on a CPU."""
    amount = 0.9 + 0.2 * random.random()
    return brighten(x, amount)
