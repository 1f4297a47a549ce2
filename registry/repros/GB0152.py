"""`itertools.groupby` compares each element with the one before. Here they
are tensors, and while Dynamo traces they have no values to compare."""
import itertools

import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    runs = 0
    for _ in itertools.groupby(x > 0):
        runs += 1
    return x / runs


def fixed(x):
    """Use this when you only need the number of groups. Compare neighbours as
    a tensor: each difference starts a new group."""
    positive = x > 0
    runs = (positive[1:] != positive[:-1]).sum() + 1
    return x / runs
