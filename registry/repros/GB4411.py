"""`in` looks for a value in an `array.array`, which is written in C. Dynamo
has no rule for it, and no Python code to trace instead."""
import array

import torch

TITLE = "array.array"
SIZES = array.array("q", [4, 8, 16])
SIZES_SET = frozenset(SIZES)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.sin() if len(x) in SIZES else x.cos()


def fixed(x):
    """Use this when you only ask whether a value is in the array. Use a set
    for that: Dynamo knows sets."""
    return x.sin() if len(x) in SIZES_SET else x.cos()
