"""`functools.partial` needs at least the function, and here gets nothing.
Dynamo ends the graph where Python would raise the `TypeError`."""
import functools

import torch

STEPS = ()


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        step = functools.partial(*STEPS)
    except TypeError:
        step = torch.sin
    return step(x)


def fixed(x):
    """Use this when there may be no function to bind. Check for one before you
    call `functools.partial`."""
    step = functools.partial(*STEPS) if STEPS else torch.sin
    return step(x)
