"""A local variable is read before anything was assigned to it. Python would
raise `UnboundLocalError`; Dynamo gives up when it meets the read, even
though an `except` is there to catch the error."""
import torch

COVERAGE = "the assignment must not run, or there is no break"


def inputs():
    return (torch.randn(8),)


def broken(x):
    if x.dim() == 2:
        scale = x.size(1)
    try:
        return x / scale
    except UnboundLocalError:
        return x / 2


def fixed(x):
    """Use this when one path leaves the variable without a value. Give it a
    value on every path, here with a default before the `if`."""
    scale = 2
    if x.dim() == 2:
        scale = x.size(1)
    return x / scale
