"""Without `num_classes`, `one_hot` makes as many columns as the largest label
needs. That is a value in the tensor, so Dynamo doesn't know the shape."""
import torch


def inputs():
    return torch.randperm(5), torch.randn(5, 3)


def broken(labels, rows):
    chosen = torch.nn.functional.one_hot(labels)
    return chosen.to(rows.dtype) @ rows


def fixed(labels, rows):
    """Use this when you know the number of classes, here from the table of
    rows. Pass it as `num_classes`."""
    chosen = torch.nn.functional.one_hot(labels, num_classes=len(rows))
    return chosen.to(rows.dtype) @ rows
