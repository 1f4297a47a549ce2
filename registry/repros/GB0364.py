"""The key of a dict is an object whose class has its own `__hash__`. Dynamo
doesn't run that method, so it can't find the key."""
from typing import NamedTuple

import torch

REQUIRES = {"release": ">=2.10,<2.13"}


class Layer:
    def __init__(self, name, depth):
        self.name = name
        self.depth = depth

    def __eq__(self, other):
        return (self.name, self.depth) == (other.name, other.depth)

    def __hash__(self):
        return hash((self.name, self.depth))


class LayerTuple(NamedTuple):
    name: str
    depth: int


SCALES = {Layer("conv", 0): 0.5, Layer("conv", 1): 0.25}
SCALES_BY_FIELDS = {(key.name, key.depth): SCALES[key] for key in SCALES}
SCALES_BY_TUPLE = {LayerTuple(*key): SCALES_BY_FIELDS[key] for key in SCALES_BY_FIELDS}
layer = Layer("conv", 1)
layer_tuple = LayerTuple("conv", 1)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * SCALES[layer]


def fixed(x):
    """Use this when you can't change the class. Make the key a tuple of what
    the hash is computed from."""
    return x * SCALES_BY_FIELDS[layer.name, layer.depth]


def fixed_tuple(x):
    """Use this when you can change the class. A named tuple has the same hash
    and comparison without any code, and Dynamo knows tuples."""
    return x * SCALES_BY_TUPLE[layer_tuple]
