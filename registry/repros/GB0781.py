"""Multiplying a deque makes a new one. Dynamo takes that one for read-only,
and so has no rule for assigning to an item of it."""
import collections

import torch

REACH = "contrived"
NEIGHBOUR = "GB5904"


def inputs():
    return (torch.randn(8),)


def broken(x):
    history = collections.deque([0.0]) * 4
    history[0] = 2.0
    return x * history[0]


def fixed(x):
    """Repeat a list, and make the deque from that."""
    history = collections.deque([0.0] * 4)
    history[0] = 2.0
    return x * history[0]
