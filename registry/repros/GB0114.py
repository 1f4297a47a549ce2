"""The function given to `itertools.accumulate` does something that Dynamo
can't trace, here an `if` on a tensor. Dynamo reports the break as one of
`accumulate`. The message below it names the real cause."""
import itertools

import torch

REQUIRES = {"release": "<2.9"}


def inputs():
    return (torch.randn(3, 8),)


def larger(a, b):
    return a if a.sum() > b.sum() else b


def larger_where(a, b):
    return torch.where(a.sum() > b.sum(), a, b)


def broken(rows):
    return list(itertools.accumulate(rows.exp(), larger))


def fixed(rows):
    """Use this when both results are cheap. Remove the break from the
    function: compute both, and select with `torch.where`."""
    return list(itertools.accumulate(rows.exp(), larger_where))
