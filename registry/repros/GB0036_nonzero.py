"""`torch.where(mask)` with one argument, `nonzero` and `argwhere` list the
positions that are not zero. How many there are depends on the data."""
import torch

TITLE = "nonzero, where(mask)"
FLAGS = {"fixed_flag": {"capture_dynamic_output_shape_ops": True}}


def inputs():
    return (torch.randn(4, 3),)


def broken(x):
    rows, columns = torch.where(x > 0)
    return x.new_zeros(len(x)).index_add(0, rows, x[rows, columns])


def fixed(x):
    """Use this when you use the positions only to read and write. Work with
    the mask instead."""
    return torch.where(x > 0, x, 0).sum(1, dtype=x.dtype)


def fixed_flag(x):
    """Use this when you need the positions themselves. Set
    `capture_dynamic_output_shape_ops`."""
    rows, columns = torch.where(x > 0)
    return x.new_zeros(len(x)).index_add(0, rows, x[rows, columns])
