"""A read-only view of a dict has enum members as keys. Dynamo takes such a
view only when every key is a plain constant, like a string."""
import enum
from types import MappingProxyType

import torch


class Mode(enum.Enum):
    TRAIN = 1
    TEST = 2


SCALES = {Mode.TRAIN: 2.0, Mode.TEST: 4.0}
READ_ONLY = MappingProxyType(SCALES)
BY_NAME = MappingProxyType({mode.name: SCALES[mode] for mode in SCALES})


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x * READ_ONLY[Mode.TRAIN]


def fixed(x):
    """Use this when the compiled code is your own. Give it the dict behind the
    view."""
    return x * SCALES[Mode.TRAIN]


def fixed_names(x):
    """Use this when the table must stay read-only. Use strings as its keys."""
    return x * BY_NAME[Mode.TRAIN.name]
