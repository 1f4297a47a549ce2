"""Code changes the elements under a mask in place: `x[mask] *= 2`. That first
takes out these elements, and their number depends on the data."""
import torch

TITLE = "x[mask] *= 2"
FLAGS = {"fixed_flag": {"capture_dynamic_output_shape_ops": True}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    y = x.sin()
    y[y > 0] *= 2
    return y


def fixed(x):
    """Use this when the new value is cheap. Compute it for all elements, and
    select with `torch.where`."""
    y = x.sin()
    return torch.where(y > 0, y * 2, y)


def fixed_flag(x):
    """Use this when the new value is expensive, and few elements need it. Set
    `capture_dynamic_output_shape_ops`."""
    y = x.sin()
    y[y > 0] *= 2
    return y
