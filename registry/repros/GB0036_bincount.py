"""`torch.bincount` counts integers. The largest integer decides how long the
result is. You meet this in histograms and in class weights."""
import torch

TITLE = "torch.bincount"
FLAGS = {"fixed_flag": {"capture_dynamic_output_shape_ops": True}}


def inputs():
    return torch.randn(5), torch.randint(0, 5, (8,))


def broken(x, label):
    return x * torch.bincount(label, minlength=5)


def fixed(x, label):
    """Use this when you know the number of bins. Add ones into a table of that
    size."""
    zeros = label.new_zeros(5)
    return x * zeros.index_add(0, label, torch.ones_like(label))


def fixed_flag(x, label):
    """Use this when the number of bins depends on the data. Set
    `capture_dynamic_output_shape_ops`, and cut the result to the size you
    need."""
    return x * torch.bincount(label, minlength=5)[:5]
