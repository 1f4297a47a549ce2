"""A variable may have no value yet when it is read, and an earlier
comprehension uses the same name. Dynamo meets the empty variable on Python
3.12 and newer."""

import torch

REQUIRES = {"python": ">=3.12"}
COVERAGE = "the line that gives the variable a value must not run"


def inputs():
    return (torch.randn(3, 4),)


def broken(x):
    rows = [row * 2 for row in x]
    if len(rows) > 100:
        row = rows[0]
    try:
        return rows[1] + row
    except UnboundLocalError:
        return rows[1]


def fixed(x):
    """Use this when `None` can stand for "no value yet". Give the variable
    that value first, and test for it."""
    row = None
    rows = [one * 2 for one in x]
    if len(rows) > 100:
        row = rows[0]
    return rows[1] + row if row is not None else rows[1]
