"""A `deque` is filled from a class, which works because its metaclass has an
`__iter__`. Dynamo doesn't look there, so it can't fill the deque."""
import collections

import torch

REACH = "contrived"
NEIGHBOUR = "GB0156"
REQUIRES = {"release": ">=2.9,<2.13"}


class Registry(type):
    def __iter__(cls):
        return iter(cls.scales)


class Scales(metaclass=Registry):
    scales = (0.25, 0.5, 2.0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    low, high = collections.deque(Scales, maxlen=2)
    return x.clamp(low, high)


def fixed(x):
    """Use this when you know where the class keeps its members. Fill the deque
    from that attribute."""
    low, high = collections.deque(Scales.scales, maxlen=2)
    return x.clamp(low, high)


SCALES = tuple(Scales)


def fixed_outside(x):
    """Use this when the members don't change. Go through the class before you
    compile."""
    low, high = collections.deque(SCALES, maxlen=2)
    return x.clamp(low, high)
