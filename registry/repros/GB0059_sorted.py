"""`sorted` is called with a tensor. It compares the elements in Python, one
pair after the other, and the order depends on their values."""
import torch

TITLE = "sorted() of a tensor"


def inputs():
    return (torch.randn(8),)


def broken(x):
    lowest = sorted(x)[:3]
    return torch.stack(lowest)


def fixed(x):
    """Use this when you need all elements in order. `torch.sort` does the same
    inside the graph."""
    return torch.sort(x).values[:3]


def fixed_topk(x):
    """Use this when you need only a few of the elements. `torch.topk` doesn't
    sort the others."""
    return torch.topk(x, 3, largest=False).values
