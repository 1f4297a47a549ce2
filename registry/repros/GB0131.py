"""A function named `__setitem__` is called with a tensor as its first
argument. Dynamo traces into functions with such a name only for objects of
your own classes."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0103"


class Rows:
    def __setitem__(self, index, value):
        self.select(0, index).copy_(value)


def set_row(x, index, value):
    x.select(0, index).copy_(value)


def inputs():
    return torch.randn(3, 8), torch.randn(8)


def broken(x, row):
    Rows.__setitem__(x, 0, row)
    return x.sin()


def fixed(x, row):
    """Use this when the function does not depend on its class. Make it a plain
    function with a name of its own."""
    set_row(x, 0, row)
    return x.sin()
