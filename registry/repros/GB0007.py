"""`bisect_left` is a C function of Python's standard library. There is no
Python code for Dynamo to trace, and it has no rule of its own for this one."""
import bisect

import torch

SIZES = [4, 8, 16]


def inputs():
    return (torch.randn(6),)


def broken(x):
    size = SIZES[bisect.bisect_left(SIZES, len(x))]
    return torch.nn.functional.pad(x, (0, size - len(x)))


def fixed(x):
    """The same in plain Python is a line: write it out, Dynamo traces it."""
    size = next(size for size in SIZES if size >= len(x))
    return torch.nn.functional.pad(x, (0, size - len(x)))
