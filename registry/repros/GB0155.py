"""`itertools.groupby` gets its iterable as a keyword argument. Python allows
it, but Dynamo's rule for `groupby` accepts no keyword other than `key`."""
import itertools

import torch

LABELS = [0, 0, 1, 1, 1, 2]


def inputs():
    return (torch.randn(6),)


def broken(x):
    groups = itertools.groupby(iterable=LABELS)
    return x.split([len(list(group)) for _, group in groups])


def fixed(x):
    """Use this when you name the argument `iterable` in the call. Pass it by
    position, as usual; the meaning is the same."""
    groups = itertools.groupby(LABELS)
    return x.split([len(list(group)) for _, group in groups])
