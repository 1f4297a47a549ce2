"""Indexing with a mask keeps as many elements as the mask has `True`
values. The size of the result depends on the data, and by default Dynamo
doesn't put such an operator into a graph."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    positive = x[x > 0]
    return positive.exp().sum()


def fixed(x):
    """You reduce the selection anyway: keep the full size, mask out the rest."""
    return torch.where(x > 0, x.exp(), 0).sum()
