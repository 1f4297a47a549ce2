"""`torch.bincount` counts integers. Its result is as long as the largest one
says. You meet this in histograms and in class weights."""
import torch

TITLE = "torch.bincount"
FLAGS = {"fixed_flag": {"capture_dynamic_output_shape_ops": True}}


def inputs():
    return torch.randn(5), torch.randint(0, 5, (8,))


def broken(x, label):
    return x * torch.bincount(label, minlength=5)


def fixed(x, label):
    """You know the number of bins: add ones into a table of that size."""
    zeros = label.new_zeros(5)
    return x * zeros.index_add(0, label, torch.ones_like(label))


def fixed_flag(x, label):
    """The number of bins depends on the data: set
    `capture_dynamic_output_shape_ops`, and cut to the size you need."""
    return x * torch.bincount(label, minlength=5)[:5]
