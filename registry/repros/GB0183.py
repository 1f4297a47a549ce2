"""The keys given to `dict.fromkeys` are NumPy numbers. NumPy's numbers can be
keys, but Dynamo treats each of them as an array, and an array can't."""
import numpy as np
import torch

REQUIRES = {"module": "numpy"}
LABELS = np.array([3, 1, 3, 2])


def inputs():
    return (torch.randn(4),)


def broken(x):
    unique = dict.fromkeys(LABELS)
    return x * len(unique)


LABEL_LIST = LABELS.tolist()


def fixed(x):
    """Use this when the labels don't change. Convert them to Python numbers
    once, outside the compiled function."""
    unique = dict.fromkeys(LABEL_LIST)
    return x * len(unique)
