"""`itertools.cycle` has to remember each item of its input, to repeat them
later. Dynamo gives up when there are more than 102,400 items."""
import itertools

import torch

REACH = "contrived"
NEIGHBOUR = "GB0160"
REQUIRES = {"release": "<2.9"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    ones = itertools.cycle(itertools.repeat(1))
    pairs = list(zip(range(102_500), ones))
    return x * len(pairs)


def fixed(x):
    """Use this when the input is endless anyway, as `repeat` or `count`. It
    needs no `cycle`."""
    ones = itertools.repeat(1)
    pairs = list(zip(range(102_500), ones))
    return x * len(pairs)
