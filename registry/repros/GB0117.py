"""Dynamo has its own version of some tensor methods, and it doesn't know every
way to call them. This is the old order of arguments of `add_`: factor
first."""
import torch


def inputs():
    return torch.randn(8), torch.randn(8)


def broken(x, y):
    return x.add_(0.5, y)


def fixed(x, y):
    """Use this when the call has the old order of arguments. Call the method
    as its documentation shows: the factor is `alpha`."""
    return x.add_(y, alpha=0.5)
