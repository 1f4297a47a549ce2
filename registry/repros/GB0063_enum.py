"""The members of an `Enum` class are unpacked into variables. Python asks the
class for an iterator. Dynamo knows no way to unpack this class."""
import enum

import torch

TITLE = "unpacking an Enum"
REQUIRES = {"release": "<2.12"}


class Scale(enum.Enum):
    SMALL = 2
    LARGE = 4


def inputs():
    return (torch.randn(8),)


def broken(x):
    small, large = Scale
    return x * small.value, x * large.value


def fixed(x):
    """Use this when you know the names. Take each member from the class by
    name."""
    small, large = Scale.SMALL, Scale.LARGE
    return x * small.value, x * large.value


MEMBERS = tuple(Scale)


def fixed_tuple(x):
    """Use this when you need all members in order. Make a tuple of them
    outside, and unpack that."""
    small, large = MEMBERS
    return x * small.value, x * large.value
