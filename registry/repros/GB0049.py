"""A numpy number is given to an operator from `torch.ops`. Dynamo treats numpy
numbers as tensors, and then none of the operator's overloads fits."""
import numpy as np
import torch

REQUIRES = {"module": "numpy"}

SLOPE = np.float64(0.1)
NUMBER = float(SLOPE)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return torch.ops.aten.leaky_relu(x, SLOPE)


def fixed(x):
    """Use this when you need the operator from `torch.ops`. Convert the number
    to a plain `float` outside."""
    return torch.ops.aten.leaky_relu(x, NUMBER)


def fixed_public(x):
    """Use this when there is a public function for the operator. Call that
    one: it accepts the numpy number."""
    return torch.nn.functional.leaky_relu(x, SLOPE)
