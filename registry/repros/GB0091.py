"""The inner function runs before the variable it reads from the outer one has
been set. Python raises `NameError` there; Dynamo gives up on the function."""
import torch


def inputs():
    return (torch.randn(4),)


def broken(x):
    def total():
        return cached

    try:
        return total()
    except NameError:
        cached = x.sum()
    return total() * 2


def fixed(x):
    """Use this when the inner function may run before the variable is set. Set
    the variable first, to `None` if necessary, and test for that."""
    cached = None

    def total():
        return cached

    if total() is None:
        cached = x.sum()
    return total() * 2
