"""Python's `pow` is called with a tensor. Dynamo has a rule for `pow` of
numbers and for the operator `**`, and none for this."""
import torch

TITLE = "pow() of a tensor"


def inputs():
    return (torch.randn(8),)


def broken(x):
    return pow(x, 2).mean()


def fixed(x):
    """Use this when you call `pow` with a tensor. Write the operator `**`: it
    is the same computation."""
    return (x**2).mean()
