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
    """Use this when the gradient should stop at the root, as it does now. Call
    torch's `sqrt`, which computes the same. `.detach()` stops the gradient, as
    `math.sqrt` does."""
    scale = x.square().sum().detach().sqrt()
    return x / scale


def fixed_differentiable(x):
    """Use this when you train, and the root should get a gradient, too. Call
    torch's `sqrt` without `.detach()`."""
    scale = x.square().sum().sqrt()
    return x / scale
