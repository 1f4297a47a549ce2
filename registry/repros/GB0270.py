"""`vars()` without an argument asks for all local variables by name. Dynamo
keeps local variables in its own way and has no such dict."""
import torch

REQUIRES = {"release": ">=2.9,<2.12"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    low, high = x.min(), x.max()
    return vars()


def fixed(x):
    """Use this when you know which variables you need. Write the dict."""
    low, high = x.min(), x.max()
    return {"x": x, "low": low, "high": high}
