"""An iterator over a dict outlives the function, here in a global. Dynamo
can use such an iterator while it traces, but it doesn't know how to build one
for Python."""
import torch

SCALES = {"low": 0.5, "high": 2.0}
rest = None


def inputs():
    return (torch.randn(8),)


def broken(x):
    global rest
    rest = iter(SCALES.values())
    return x * next(rest)


def fixed(x):
    """Use this when the iterator must outlive the function. Iterate over a
    list of the values: Dynamo can build a list's iterator."""
    global rest
    rest = iter(list(SCALES.values()))
    return x * next(rest)
