"""The predicate of `torch.cond` is a member of an enum. Eager mode accepts it
because it is also an int; Dynamo takes only a plain bool or number, or a
tensor with one element."""
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
    """Use this when Python already knows which branch to run. A plain `if` is
    enough."""
    return torch.sin(x) if mode == Mode.TRAIN else torch.cos(x)


def fixed_bool(x):
    """Use this when `torch.cond` must stay. Compare the enum member with `==`:
    the result is a plain bool."""
    return torch.cond(mode == Mode.TRAIN, torch.sin, torch.cos, (x,))
