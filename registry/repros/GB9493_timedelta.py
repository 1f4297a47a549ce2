"""A `timedelta` is used as yes or no: it is false if it is zero. `timedelta`
is written in C, and Dynamo has no rule for its `__bool__`."""
import datetime

import torch

TITLE = "A timedelta"
REQUIRES = {"release": ">=2.14"}
DELAY = datetime.timedelta(seconds=2)
NO_DELAY = datetime.timedelta(0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.sin() if DELAY else x.cos()


def fixed(x):
    """Use this when you ask whether there is a delay at all. Compare it with
    zero: Dynamo knows how to compare a `timedelta`."""
    return x.sin() if DELAY != NO_DELAY else x.cos()
