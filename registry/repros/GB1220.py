"""`==` between two `array.array` objects runs C code. Dynamo can't trace it,
and doesn't know whether it is safe to call while tracing."""
import array

import torch

USED = array.array("d", [2.0, 1.0])
DEFAULT = array.array("d", [2.0, 1.0])
USED_LIST = USED.tolist()
DEFAULT_LIST = DEFAULT.tolist()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.sin() if USED == DEFAULT else x.cos()


def fixed(x):
    """Use this when you have only a few Python numbers. Keep them in lists:
    Dynamo can compare those."""
    return x.sin() if USED_LIST == DEFAULT_LIST else x.cos()
