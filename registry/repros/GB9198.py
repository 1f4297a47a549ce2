"""`repr` is called on an object whose class has its `__repr__` written in C:
here a `timedelta`. Dynamo has no Python code to trace."""
import datetime

import torch

REQUIRES = {"release": ">=2.11,<2.13"}
PERIOD = datetime.timedelta(hours=6)
PERIOD_TEXT = repr(PERIOD)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return {"period": repr(PERIOD), "mean": x.mean()}


def fixed(x):
    """Use this when the object doesn't change. Make the text once, before you
    compile."""
    return {"period": PERIOD_TEXT, "mean": x.mean()}
