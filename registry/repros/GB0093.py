"""A plain dict and an `OrderedDict` are merged with `|`, and the result, an
`OrderedDict`, leaves the function. Dynamo made it from a class that it never
saw the program load, and so it can't tell Python where to find the class."""
from collections import OrderedDict

import torch

TITLE = "A merged OrderedDict"
DEFAULTS = OrderedDict(bias=torch.zeros(8))


def inputs():
    return (torch.randn(8),)


def broken(weight):
    return {"weight": weight.sin()} | DEFAULTS


def fixed(weight):
    """Use this when you merge two dicts and need an `OrderedDict`. Make the
    left side an `OrderedDict`, too."""
    return OrderedDict(weight=weight.sin()) | DEFAULTS


def fixed_update(weight):
    """Use this when you merge several dicts. Make the result first, and fill
    it with `update`."""
    result = OrderedDict(weight=weight.sin())
    result.update(DEFAULTS)
    return result
