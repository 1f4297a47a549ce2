"""Dynamo runs NumPy code as torch operations, and a few attributes of an array
have no counterpart there. `dtype` is one of them, `flags` and `base` too."""
import numpy as np
import torch

REQUIRES = {"module": "numpy", "device": "cpu"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    a = x.numpy()
    ramp = np.linspace(0, 1, 8, dtype=a.dtype)
    return torch.from_numpy(ramp * a)


def fixed(x):
    """The code is yours to change: in torch, `dtype` is no problem."""
    ramp = torch.linspace(0, 1, 8, dtype=x.dtype)
    return ramp * x


def fixed_named(x):
    """The NumPy code stays, and the type is always the same: name it."""
    a = x.numpy()
    ramp = np.linspace(0, 1, 8, dtype=np.float32)
    return torch.from_numpy(ramp * a)
