"""`torch.unique` returns each value once. How many values there are depends
on the data. You meet this with class labels, graph nodes and token ids."""
import torch

TITLE = "torch.unique"
LIMITS = {
    "fixed_table": {
        "negative": "A label below zero is an error.",
        "large": "A label above the largest that you named, here 4, is an error.",
        "dtype": "A label has to be a whole number, since it is an index.",
    }
}
FLAGS = {"fixed_flag": {"capture_dynamic_output_shape_ops": True}}


def inputs():
    return torch.randn(8), torch.randint(0, 5, (8,))


def broken(x, label):
    _, group, size = label.unique(return_inverse=True, return_counts=True)
    return x / size[group]


def fixed(x, label):
    """Use this when there are not too many elements. Compare each label with
    all of them, and count."""
    size = (label[:, None] == label).sum(1)
    return x / size


def fixed_table(x, label):
    """Use this when there are many elements and you know the largest label.
    Make a table with a row for each label, used or not."""
    size = label.new_zeros(5).index_add(0, label, torch.ones_like(label))
    return x / size[label]


def fixed_flag(x, label):
    """Use this when labels can be any number. Set
    `capture_dynamic_output_shape_ops`."""
    _, group, size = label.unique(return_inverse=True, return_counts=True)
    return x / size[group]
