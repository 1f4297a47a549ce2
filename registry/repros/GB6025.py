"""`list()` goes through a class, which works because its metaclass has an
`__iter__`. Dynamo doesn't look there, so it can't make the list."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0156"
REQUIRES = {"release": ">=2.12,<2.13"}


class Registry(type):
    def __iter__(cls):
        return iter(cls.scales)


class Scales(metaclass=Registry):
    scales = (0.5, 2.0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    low, high = list(Scales)
    return x.clamp(low, high)


def fixed(x):
    """Use this when you know where the class keeps its members. Make the list
    from that attribute."""
    low, high = list(Scales.scales)
    return x.clamp(low, high)


SCALES = list(Scales)


def fixed_outside(x):
    """Use this when the members don't change. Make the list before you
    compile."""
    low, high = SCALES
    return x.clamp(low, high)
