"""A plain dict and an `OrderedDict` are merged with `|`, and the result, an
`OrderedDict`, leaves the function. Dynamo made it from a class that it never
saw the program load, and so it can't tell Python where to find the class."""
from collections import OrderedDict

import torch

DEFAULTS = OrderedDict(bias=torch.zeros(8))


def inputs():
    return (torch.randn(8),)


def broken(weight):
    return {"weight": weight.sin()} | DEFAULTS


def fixed(weight):
    """You need an `OrderedDict`: make one on the left side, too."""
    return OrderedDict(weight=weight.sin()) | DEFAULTS


def fixed_update(weight):
    """You merge several dicts: make the result first and fill it."""
    result = OrderedDict(weight=weight.sin())
    result.update(DEFAULTS)
    return result
