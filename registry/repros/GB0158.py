"""`tobytes` copies the values of an array into a Python object. While Dynamo
traces there are no values yet."""
import torch

REQUIRES = {"module": "numpy", "device": "cpu"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    size = len(x.numpy().tobytes())
    return x / size


def fixed(x):
    """Use this when you only need the number of bytes. `nbytes` gives it
    without a copy."""
    return x / x.nbytes
