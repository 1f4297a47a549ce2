"""`repr` is called on a function that uses a tensor of the enclosing function.
Dynamo would have to make that function for real, and the tensor has no value
while it traces."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0569"


def make_shift(offset):
    def shift(x):
        return x + offset

    return shift


def inputs():
    return (torch.randn(8),)


def broken(x):
    shift = make_shift(x.mean())
    return shift(x), repr(shift).split()[1]


def fixed(x):
    """Use this when you want only the name of the function. Read it from
    `__qualname__`."""
    shift = make_shift(x.mean())
    return shift(x), shift.__qualname__
