"""A function returns a frozen dataclass with a field that was never set, and
is exported. The exported function would have to make the object again, and
Dynamo has no value for that field."""
import dataclasses

import torch

EAGER_RAISES = "Unsupported"
REACH = "private"
REQUIRES = {"release": ">=2.10,<2.12"}


@dataclasses.dataclass(frozen=True)
class Range:
    low: float
    high: float

    def __init__(self, low):
        object.__setattr__(self, "low", low)


BOUNDS = Range(0.5)


def limited(x):
    return x.clamp(BOUNDS.low), BOUNDS


@torch.compiler.disable
def export(x):
    return torch._dynamo.export(limited)(x)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return export(x)


def fixed(x):
    """Use this when you can compile the function instead of exporting it.
    `torch.compile` returns the object that exists. To export, return only
    tensors, and add the object in the caller."""
    return limited(x)
