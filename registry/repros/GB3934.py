"""A string with a tensor's value in it is known only when the graph has run.
Dynamo can pass such a string on, but can't append to it."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.sin(), f"peak {x.max()}" + " (raw)"


def fixed(x):
    """Use this when you can write the whole text in one place. Put it into one
    f-string: it is filled in afterwards."""
    return x.sin(), f"peak {x.max()} (raw)"
