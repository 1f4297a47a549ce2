"""A function of Python's `math` module is given a tensor. It wants a Python
number, and that number depends on the data."""
import math

import torch

TITLE = "math.sqrt of a tensor"
FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}
GRADIENT = {
    "fixed_differentiable": "The gradient also flows through the root. In "
    "eager `math.sqrt` stops it there."
}


def inputs():
    return (torch.randn(8),)


def broken(x):
    scale = math.sqrt(x.square().sum())
    return x / scale


def fixed(x):
    """torch has the same function: call that one. Like `math.sqrt`,
    `.detach()` stops the gradient."""
    scale = x.square().sum().detach().sqrt()
    return x / scale


def fixed_differentiable(x):
    """You train, and the root should get a gradient, too: leave out
    `.detach()`."""
    scale = x.square().sum().sqrt()
    return x / scale
