"""The key function of `itertools.groupby` raises an exception. Dynamo runs the
grouping as one step, and an exception out of that step ends the graph even if
the program catches it."""
import itertools

import torch

LABELS = ["1", "1", "2", "2", "2", "?"]


def inputs():
    return (torch.randn(6),)


def broken(x):
    try:
        groups = itertools.groupby(LABELS, key=int)
        sizes = [len(list(group)) for _, group in groups]
    except ValueError:
        sizes = [len(x)]
    return x.split(sizes)


def fixed(x):
    """Use this when the key function may raise. Compute the keys first, then
    group them. (To group the labels themselves, `zip` them with their
    keys.)"""
    try:
        groups = itertools.groupby([int(label) for label in LABELS])
        sizes = [len(list(group)) for _, group in groups]
    except ValueError:
        sizes = [len(x)]
    return x.split(sizes)
