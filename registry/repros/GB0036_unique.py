"""`torch.unique` returns each value once. How many values there are depends
on the data. You meet this with class labels, graph nodes and token ids."""
import torch

TITLE = "torch.unique"
FLAGS = {"fixed_flag": {"capture_dynamic_output_shape_ops": True}}


def inputs():
    return torch.randn(8), torch.randint(0, 5, (8,))


def broken(x, label):
    _, group, size = label.unique(return_inverse=True, return_counts=True)
    return x / size[group]


def fixed(x, label):
    """Use this when you know the largest label. Make a table with a row for
    each label, used or not."""
    size = label.new_zeros(5).index_add(0, label, torch.ones_like(label))
    return x / size[label]


def fixed_flag(x, label):
    """Use this when labels can be any number. Set
    `capture_dynamic_output_shape_ops`."""
    _, group, size = label.unique(return_inverse=True, return_counts=True)
    return x / size[group]
