"""The program calls a method of a `range` that was passed in with dynamic
sizes. Dynamo knows only `start`, `stop` and `step` of it."""
import torch

COMPILE = {"dynamic": True}
REQUIRES = {"release": "<2.9"}


def inputs():
    return torch.randn(16), range(2, 14, 3)


def broken(x, rows):
    return x * rows.index(8)


def fixed(x, rows):
    """Use this when you know that the number is in the range. Compute its
    place from `start` and `step`."""
    return x * ((8 - rows.start) // rows.step)
