"""`itertools.groupby` gets its key function by position. Python allows it,
but Dynamo's rule for `groupby` takes one positional argument only."""
import itertools

import torch

WORDS = ["a", "b", "cd", "ef", "gh", "ijk"]


def inputs():
    return (torch.randn(6),)


def broken(x):
    groups = itertools.groupby(WORDS, len)
    return x.split([len(list(group)) for _, group in groups])


def fixed(x):
    """Use this when `groupby` needs a key function. Pass it as the keyword
    argument `key`; the meaning is the same."""
    groups = itertools.groupby(WORDS, key=len)
    return x.split([len(list(group)) for _, group in groups])
