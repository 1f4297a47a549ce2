"""The program looks for `__version__` on a NumPy array, to tell arrays from
modules. Dynamo stops at that name and doesn't answer that there is none."""
import numpy as np
import torch

REQUIRES = {"module": "numpy", "device": "cpu"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    a = x.numpy()
    is_module = hasattr(a, "__version__")
    return x if is_module else torch.from_numpy(np.sin(a))


def fixed(x):
    """Use this when you want to tell arrays from other objects. Check the
    class with `isinstance`, not an attribute."""
    a = x.numpy()
    is_array = isinstance(a, np.ndarray)
    return torch.from_numpy(np.sin(a)) if is_array else x
