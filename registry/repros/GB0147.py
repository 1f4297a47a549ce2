"""The call creates a `datetime.date`. Its constructor is written in C, and
Dynamo has no rule for it."""
import datetime

import torch

RELEASE = datetime.date(2024, 1, 29)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * datetime.date(2024, 1, 29).day


def fixed(x):
    """The object is always the same: create it once, outside."""
    return x * RELEASE.day
