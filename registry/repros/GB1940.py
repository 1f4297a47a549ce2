"""The program sets an attribute of a number whose class is a subclass of
`float`. Dynamo treats such a number as a constant, and doesn't follow changes
of its attributes."""

import torch

REQUIRES = {"release": ">=2.15"}
EFFECTS = {"fixed": "`used_for` is an attribute of `FIXED_RATE` then, and no longer of `RATE`."}


class Rate(float):
    pass


class FixedRate:
    def __init__(self, value):
        self.value = value


RATE = Rate(0.5)
FIXED_RATE = FixedRate(0.5)


def inputs():
    return (torch.randn(8),)


def broken(x):
    RATE.used_for = len(x)
    return x * RATE


def fixed(x):
    """Use this when the number needs attributes that change. Keep the number
    in an object, not in a subclass of `float`."""
    FIXED_RATE.used_for = len(x)
    return x * FIXED_RATE.value
