"""`ndarray.shape.__set__` is called by hand to change the shape of a NumPy
array in place. Dynamo has no rule for the `__set__` of NumPy's attributes."""
import numpy as np
import torch

REACH = "contrived"
NEIGHBOUR = "GB0058"
REQUIRES = {"module": "numpy", "release": ">=2.15"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    rows = np.sin(x.numpy())
    np.ndarray.shape.__set__(rows, (2, 4))
    return torch.from_numpy(rows)


def fixed(x):
    """Use this when nobody else uses the old array. Make a new one with
    `reshape`."""
    rows = np.sin(x.numpy()).reshape(2, 4)
    return torch.from_numpy(rows)
