"""`len` is called on an `array.array`, whose `__len__` is written in C. Dynamo
has no Python code to trace there."""
import array

import torch

SAMPLES = array.array("f", [1.0, 2.0, 4.0])
SAMPLES_LIST = SAMPLES.tolist()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x / len(SAMPLES)


def fixed(x):
    """Use this when nothing needs the compact C layout. Use a list: Dynamo
    knows its `len`."""
    return x / len(SAMPLES_LIST)
