"""Whether the new parameter requires gradients is the result of a comparison
with a size. When shapes are dynamic that is a symbolic value, and Dynamo needs
a plain `True` or `False`."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return torch.nn.Parameter(x, requires_grad=x.shape[0] > 4) * 2


def fixed(x):
    """Use this when both answers occur. Choose the constant with an `if`, and
    Dynamo makes a graph for each. (`bool()` around the comparison stays
    symbolic.)"""
    trainable = True if x.shape[0] > 4 else False
    return torch.nn.Parameter(x, requires_grad=trainable) * 2
