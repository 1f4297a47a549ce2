"""Without `num_classes`, `one_hot` makes as many columns as the largest label
needs. That is a value in the tensor, so Dynamo doesn't know the shape."""
import torch


def inputs():
    return (torch.randperm(5),)


def broken(labels):
    return torch.nn.functional.one_hot(labels).float()


def fixed(labels):
    """Use this when you know the number of classes. Pass it as
    `num_classes`."""
    return torch.nn.functional.one_hot(labels, num_classes=5).float()
