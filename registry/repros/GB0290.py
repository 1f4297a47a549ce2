"""`np.multiply.outer` is a method of a NumPy function. Dynamo translates calls
of NumPy's functions, not of their methods."""
import numpy as np
import torch

REQUIRES = {"device": "cpu"}
LIMITS = {
    "fixed": {
        "dtype": "Of an integer and a float32, NumPy makes a float64, and torch a "
        "float32."
    }
}


def inputs():
    return torch.randn(4), torch.randn(3)


def broken(x, y):
    return torch.from_numpy(np.multiply.outer(x.numpy(), y.numpy()))


def fixed(x, y):
    """Use this when the data are tensors. Use PyTorch's own function."""
    return torch.outer(x, y)


def fixed_numpy(x, y):
    """Use this when the code must stay NumPy. Often there is a plain function
    for it, here `np.outer`."""
    return torch.from_numpy(np.outer(x.numpy(), y.numpy()))
