"""`x.sum` is a method of a tensor, and its `__self__` is the tensor. Dynamo does
not follow it back, so it can't say what `type()` of it is."""

import torch


def add(x):
    method = x.sum
    return x + 1 if type(method.__self__) is torch.Tensor else x


def add_by_tensor(x):
    return x + 1 if type(x) is torch.Tensor else x


def message():
    torch.compile(add, backend="eager", fullgraph=True)(torch.ones(4))


def fixed():
    """Use this when you can reach the object itself: ask for the type of that."""
    return torch.compile(add_by_tensor, backend="eager", fullgraph=True)(torch.ones(4))


def eager():
    return add(torch.ones(4))
