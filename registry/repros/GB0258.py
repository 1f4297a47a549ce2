"""`collections.deque` takes an iterable and a length, and gets a third
argument. Dynamo ends the graph where Python would raise the `TypeError`."""
import collections

import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        recent = collections.deque([x], 1, 2)
    except TypeError:
        recent = collections.deque([x])
    return recent[0].sin()


def fixed(x):
    """Use this when the call always fails. Leave it out, and make the call
    that works."""
    recent = collections.deque([x])
    return recent[0].sin()
