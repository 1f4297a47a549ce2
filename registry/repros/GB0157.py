"""Dynamo runs NumPy code as torch operations, and a few attributes of an array
have no counterpart there. `dtype` is one of them, `flags` and `base` too."""
import numpy as np
import torch

REQUIRES = {"module": "numpy", "device": "cpu"}
LIMITS = {
    "fixed_named": {
        "dtype": "The result has at least the type that you name, also if the "
        "array has a smaller one."
    }
}


def inputs():
    return (torch.randn(8),)


def broken(x):
    a = x.numpy()
    ramp = np.linspace(0, 1, 8, dtype=a.dtype)
    return torch.from_numpy(ramp * a)


def fixed(x):
    """Use this when you can write the code in torch. There, `dtype` is no
    problem."""
    ramp = torch.linspace(0, 1, 8, dtype=x.dtype)
    return ramp * x


def fixed_named(x):
    """Use this when the NumPy code must stay and the type is always the same.
    Write the type by name."""
    a = x.numpy()
    ramp = np.linspace(0, 1, 8, dtype=np.float32)
    return torch.from_numpy(ramp * a)
