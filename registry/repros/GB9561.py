"""`*=` on an `array.array` repeats it in place. The code for that is written
in C, and Dynamo has no rule for it."""
import array

import torch

REACH = "contrived"
NEIGHBOUR = "GB4880"
REQUIRES = {"device": "cpu"}
EFFECTS = {
    "fixed": "A list becomes longer, instead of the array. Dynamo can't change "
    "an array in place."
}
PERIOD = array.array("f", [1.0])
PERIOD_LIST = [1.0]


def inputs():
    PERIOD[:] = array.array("f", [1.0, -1.0])
    PERIOD_LIST[:] = [1.0, -1.0]
    return (torch.randn(4),)


def broken(x):
    period = PERIOD
    period *= 2
    return x * torch.tensor(period)


def fixed(x):
    """Use this when nothing needs the compact C layout of an array. Use a
    list. Dynamo follows `*=` and repeats the change on the real list after the
    graph has run."""
    period = PERIOD_LIST
    period *= 2
    return x * torch.tensor(period)
