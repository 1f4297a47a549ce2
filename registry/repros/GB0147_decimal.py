"""The program computes a factor with `Decimal`, for exact rounding. The class
is written in C, and Dynamo has no rule for it."""
from decimal import Decimal

import torch

TITLE = "Decimal"


def rate(percent):
    return float(Decimal(percent) / 100)


RATE = rate("12.5")


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * rate("12.5")


def fixed(x):
    """Use this when you know the number before you compile. Compute it then;
    only a `float` goes into the graph anyway."""
    return x * RATE
