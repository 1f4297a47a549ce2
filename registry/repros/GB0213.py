"""A number is added to one that Python's `random` draws at run time. Dynamo
keeps the drawn number as a tensor, but to calculate with it and a plain number
it wants the value, and while it traces there is none."""
import random

import torch

LIMITS = {
    "fixed_tensor": {"inf": "If 0 is drawn, infinity times 0 gives NaN."}
}


def inputs():
    random.seed(torch.randint(100, ()).item())
    return (torch.randn(8),)


def broken(x):
    return x * (1 + random.randint(0, 2))


def fixed(x):
    """Use this when you choose the range. Draw the number that you need in the
    end, without adding to it."""
    return x * random.randint(1, 3)


def fixed_tensor(x):
    """Use this when you can't change the range. Use the drawn number only
    together with tensors."""
    return x + x * random.randint(0, 2)
