"""A function is bound to a `slice` with `__get__`. Binding asks the slice for
its class, and Dynamo knows only a slice's `start`, `stop` and `step`."""
import functools

import torch

REACH = "contrived"
NEIGHBOUR = "GB9277"


def length(part):
    return part.stop - part.start


def inputs():
    return (torch.randn(8),)


def broken(x):
    part = slice(2, 6)
    part_length = length.__get__(part)
    return x[part] / part_length()


def fixed(x):
    """Use this when you don't need a method. Call the function with the
    slice."""
    part = slice(2, 6)
    return x[part] / length(part)


def fixed_partial(x):
    """Use this when other code expects a function without arguments. Bind the
    slice with `functools.partial`."""
    part = slice(2, 6)
    part_length = functools.partial(length, part)
    return x[part] / part_length()
