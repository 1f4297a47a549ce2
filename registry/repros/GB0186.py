"""The name of an argument in a `functools.partial` is an enum member that is
also a string. Python accepts it; Dynamo wants a plain `str`."""
import enum
import functools

import torch

REACH = "contrived"
NEIGHBOUR = "GB0203"


class Option(str, enum.Enum):
    DIM = "dim"


total = functools.partial(torch.sum, **{Option.DIM: 0})
plain = functools.partial(torch.sum, **{Option.DIM.value: 0})


def inputs():
    return (torch.randn(4, 2),)


def broken(x):
    return total(x) + 1


def fixed(x):
    """Use this when you build the partial yourself. Take the `.value` of the
    enum member as the name. For other kinds of strings, use `str()`."""
    return plain(x) + 1
