"""`sum` goes through an `array.array`, which is written in C. Dynamo doesn't
know how to iterate over one."""
import array

import torch

TITLE = "array.array"
WEIGHTS = array.array("d", [0.5, 0.25])
WEIGHTS_LIST = WEIGHTS.tolist()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * sum(WEIGHTS)


def fixed(x):
    """Use this when you have only a few Python numbers. Keep them in a list:
    Dynamo can iterate over one."""
    return x * sum(WEIGHTS_LIST)
