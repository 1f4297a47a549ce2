"""`guard_scalar` turns a symbolic number into a Python number. Dynamo treats
the NumPy number that it gets here as a tensor, and has no rule for that."""
import numpy
import torch
from torch.fx.experimental.symbolic_shapes import guard_scalar

REACH = "private"
REQUIRES = {"module": "numpy"}


def inputs():
    return torch.randn(4), numpy.float64(torch.randn(()).item())


def broken(x, scale):
    return x * guard_scalar(scale)


def fixed(x, scale):
    """Use this when the number comes from NumPy. Convert it with `float`
    first."""
    return x * guard_scalar(float(scale))
