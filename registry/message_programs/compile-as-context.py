"""`torch._dynamo.optimize` is used in a `with` statement. It compiles functions,
not blocks."""

import torch


def step(x):
    return x * 2


def message():
    with torch._dynamo.optimize("eager"):
        return step(torch.ones(4))


def fixed():
    """Use this always: put the block into a function, and compile that."""
    return torch.compile(step, backend="eager")(torch.ones(4))


def eager():
    return step(torch.ones(4))
