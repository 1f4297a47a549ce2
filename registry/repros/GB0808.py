"""`Decimal` does its arithmetic in C. Dynamo can't look inside its `*`, and
won't guess what it does."""
from decimal import Decimal

import torch

PRICE = Decimal("1.10")
TAX = Decimal("1.19")
GROSS = float(PRICE * TAX)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * float(PRICE * TAX)


def fixed(x):
    """Use this when the exact arithmetic uses only constants. Do it once, at
    import."""
    return x * GROSS
