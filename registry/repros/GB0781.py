"""Multiplying a deque makes a new one. Dynamo treats the new one as read-only,
and so has no rule for assigning to an item of it."""
import collections

import torch

TITLE = "A deque times a number"
REACH = "contrived"
NEIGHBOUR = "GB5904"


def inputs():
    return (torch.randn(8),)


def broken(x):
    history = collections.deque([0.0]) * 4
    history[0] = 2.0
    return x * history[0]


def fixed(x):
    """Use this when you want a deque that repeats the same items. Repeat a
    list, and make the deque from it."""
    history = collections.deque([0.0] * 4)
    history[0] = 2.0
    return x * history[0]
