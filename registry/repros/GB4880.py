"""`array.array` is written in C. Dynamo has no rule for reading an item of
one, and no Python code to trace instead."""
import array

import torch

TITLE = "array.array"
RATES = array.array("d", [0.1, 0.2, 0.4])
RATES_LIST = RATES.tolist()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * RATES[len(x) % 3]


def fixed(x):
    """Use this when the numbers don't change. Keep them in a list, which
    Dynamo can read."""
    return x * RATES_LIST[len(x) % 3]
