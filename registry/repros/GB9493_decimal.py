"""`float` converts a `Decimal`, as in code that reads exact prices or rates.
`Decimal` is written in C, and Dynamo has no rule for its `__float__`."""
import decimal

import torch

TITLE = "A Decimal"
REQUIRES = {"release": ">=2.14"}
RATE = decimal.Decimal("0.19")
RATE_FLOAT = float(RATE)


def inputs():
    return (torch.rand(8),)


def broken(prices):
    return prices * float(RATE)


def fixed(prices):
    """Use this when the number doesn't change. Convert it once, before you
    compile."""
    return prices * RATE_FLOAT
