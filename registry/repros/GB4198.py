"""`copy.deepcopy` of a tensor copies the Python object with everything
attached to it. Dynamo only records what happens to the data."""
import copy

import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    before = copy.deepcopy(x)
    x.clamp_(-1, 1)
    return x - before


def fixed(x):
    """Use this when you want a copy of the data. Use `clone`. Call `detach`
    first, because no gradient flows back from a deep copy either."""
    before = x.detach().clone()
    x.clamp_(-1, 1)
    return x - before
