"""Dynamo translates NumPy calls into tensor operations by a table, and this
function isn't in the table."""
import numpy as np
import torch

REQUIRES = {"module": "numpy", "device": "cpu"}
LIMITS = {
    "fixed": {
        "inf": "With an infinity torch may give NaN, where NumPy gives infinity.",
        "dtype": "Of integers, NumPy makes a float64, and torch a float32.",
    }
}


def inputs():
    return (torch.randn(2, 8),)


def broken(x):
    return torch.from_numpy(np.trapezoid(x.numpy()))


def fixed(x):
    """Use this when PyTorch has the same function. Call it directly, without
    converting to NumPy and back."""
    return torch.trapezoid(x)
