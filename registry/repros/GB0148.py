"""A tensor that came in from outside is transposed in place. Dynamo doesn't
put a change of an input's shape into a graph; it waits for the call, and
breaks there."""
import torch


def inputs():
    return torch.randn(4, 2), torch.randn(4, 3)


def broken(x, y):
    x.t_()
    z = x @ y
    x.t_()
    return z


def fixed(x, y):
    """The shape was to change for a moment only: `t` without underscore gives a
    transposed view of the same memory, and leaves `x` alone."""
    return x.t() @ y
