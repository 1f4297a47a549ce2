"""The named tuple is made inside the compiled code, and a default value is a
tensor. Dynamo makes a named tuple class only from constants."""
from collections import namedtuple

import torch

Pair = namedtuple("Pair", ["weight", "bias"])


def inputs():
    return (torch.randn(8),)


def broken(x):
    Pair = namedtuple("Pair", ["weight", "bias"], defaults=[x.mean()])
    pair = Pair(x)
    return pair.weight * 2 + pair.bias


def fixed(x):
    """Use this when the fields are always the same. Define the class once, at
    module level, and pass the tensor where you make the tuple."""
    pair = Pair(x, bias=x.mean())
    return pair.weight * 2 + pair.bias
