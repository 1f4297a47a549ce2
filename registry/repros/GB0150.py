"""`hasattr` is called on an object for which Dynamo has a stand-in, and the
stand-in can't say which attributes the object has. Slices, `super()`,
iterators and bound methods are such objects."""
import torch

TITLE = "hasattr on a slice"


def pick(x, index):
    if hasattr(index, "__len__"):
        index = torch.tensor(index)
    return x[index]


def choose(x, index):
    if not isinstance(index, slice):
        index = torch.tensor(index)
    return x[index]


def inputs():
    return (torch.randn(8),)


def broken(x):
    return pick(x, slice(2, 5)).sin() + pick(x, [0, 1, 2])


def fixed(x):
    """Use this when the attribute only tells two kinds of object apart. Check
    the class with `isinstance`."""
    return choose(x, slice(2, 5)).sin() + choose(x, [0, 1, 2])
