"""`np.dtype` gets an object of the user's class, which NumPy accepts because it
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
    """Read the attribute yourself, and pass on what it holds."""
    return x / np.dtype(COLUMN.dtype).itemsize
