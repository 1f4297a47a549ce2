"""The program calls something that Dynamo can't call. Most often it creates an
object of a class that is written in C (`datetime`, `Decimal`,
`SimpleNamespace`), or of your own class that is derived from such a type."""
import datetime

import torch

TITLE = "datetime"
RELEASE = datetime.date(2024, 1, 29)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * datetime.date(2024, 1, 29).day


def fixed(x):
    """Use this when the object is always the same. Create it once, outside the
    compiled function."""
    return x * RELEASE.day
