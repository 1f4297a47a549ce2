"""`groupdict` of a regular expression's match returns a dict. From methods of
such objects, Dynamo accepts only numbers, strings, and sequences of them."""
import re

import torch

SPEC = re.match(r"(?P<rows>\d+)x(?P<columns>\d+)", "2x4")


def inputs():
    return (torch.randn(8),)


def broken(x):
    size = SPEC.groupdict()
    return x.view(int(size["rows"]), int(size["columns"]))


def fixed(x):
    """Use this when you know the names of the groups. Pass them to `group`,
    which returns a tuple of strings."""
    rows, columns = SPEC.group("rows", "columns")
    return x.view(int(rows), int(columns))
