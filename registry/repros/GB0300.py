"""`np.dtype` gets an object of your own class, which NumPy accepts because it
has an attribute `dtype`. Dynamo computes data types while tracing, and only
from constants."""
import numpy as np
import torch

REQUIRES = {"module": "numpy"}


class Column:
    dtype = np.dtype("int16")


COLUMN = Column()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x / np.dtype(COLUMN).itemsize


def fixed(x):
    """Use this when the object has an attribute `dtype`. Read it yourself, and
    pass its value to `np.dtype`."""
    return x / np.dtype(COLUMN.dtype).itemsize
