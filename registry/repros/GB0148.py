"""The function transposes one of its inputs in place. Dynamo doesn't put a
change of an input's shape into a graph, so it breaks at that call."""
import torch


def inputs():
    return torch.randn(4, 2), torch.randn(4, 3)


def broken(x, y):
    x.t_()
    z = x @ y
    x.t_()
    return z


def fixed(x, y):
    """Use this when you need the other shape only for a moment. `t` without
    underscore gives a transposed view of the same memory, and leaves `x`
    unchanged."""
    return x.t() @ y
