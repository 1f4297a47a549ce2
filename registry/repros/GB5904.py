"""Dynamo knows `collections.deque`, but not a subclass of it: it can't read
an item of one, since the code for that is written in C."""
import collections

import torch


class History(collections.deque):
    pass


SCALES = History([2.0, 3.0])
PLAIN_SCALES = collections.deque([2.0, 3.0])


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * SCALES[0]


def fixed(x):
    """The subclass adds nothing the compiled code needs: use a plain deque."""
    return x * PLAIN_SCALES[0]
