"""The predicate of `torch.cond` is a member of an enum. In eager
mode it passes for the int that it also is; Dynamo takes only a plain bool or
number, or a tensor with one element."""
import enum

import torch


class Mode(enum.IntEnum):
    EVAL = 0
    TRAIN = 1


mode = Mode.TRAIN


def inputs():
    return (torch.randn(8),)


def broken(x):
    return torch.cond(mode, torch.sin, torch.cos, (x,))


def fixed(x):
    """The choice is made in Python: a plain `if` is all it takes."""
    return torch.sin(x) if mode == Mode.TRAIN else torch.cos(x)


def fixed_bool(x):
    """`torch.cond` must stay: compare, and a bool comes out."""
    return torch.cond(mode == Mode.TRAIN, torch.sin, torch.cos, (x,))
