"""A function returns a frozen dataclass that has a `__post_init__`, and is
exported. The exported function would have to make the object again. Dynamo
refuses, since `__post_init__` might do something a second time."""
import dataclasses

import torch

EAGER_RAISES = "Unsupported"
REACH = "private"
REQUIRES = {"release": ">=2.10,<2.12"}


@dataclasses.dataclass(frozen=True)
class Scale:
    value: float

    def __post_init__(self):
        if self.value <= 0:
            raise ValueError("a scale is positive")


SCALE = Scale(2.0)


def scaled(x):
    return x * SCALE.value, SCALE


@torch.compiler.disable
def export(x):
    return torch._dynamo.export(scaled)(x)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return export(x)


def fixed(x):
    """Use this when you can compile the function instead of exporting it.
    `torch.compile` returns the object that exists. To export, return only
    tensors, and add the object in the caller."""
    return scaled(x)
