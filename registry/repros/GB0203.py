"""Only the keys of a dict are used, as a view, and they are enum members.
Dynamo takes such a view when every key is a plain constant, like a string."""
import enum

import torch


class Mode(enum.Enum):
    TRAIN = 1
    TEST = 2


SCALES = {Mode.TRAIN: 2.0, Mode.TEST: 4.0}
KNOWN = SCALES.keys()


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x * 2 if Mode.TRAIN in KNOWN else x


def fixed(x):
    """Use this when you have the dict itself. Look the key up there, not in
    the view of its keys."""
    return x * 2 if Mode.TRAIN in SCALES else x
