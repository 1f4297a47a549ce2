"""`str()` is called on a date. The method that writes a date as text is C
code of Python's standard library, and Dynamo has nothing to trace there."""
from datetime import date

import torch

DAY = date(2026, 1, 2)
SCALES = {"2026-01-02": 2.0}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * SCALES[str(DAY)]


def fixed(x):
    """Use this when the text is made of a few fields. Write them out in an
    f-string."""
    return x * SCALES[f"{DAY.year:04}-{DAY.month:02}-{DAY.day:02}"]


DAY_TEXT = str(DAY)


def fixed_outside(x):
    """Use this when the object doesn't change. Make the text once, outside the
    compiled function."""
    return x * SCALES[DAY_TEXT]
