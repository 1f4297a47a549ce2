"""`next()` is called on something that is not an iterator, here the values of
a dictionary. It fails in eager mode, too."""
import torch

EAGER_RAISES = "TypeError"
TITLE = "not an iterator"
REQUIRES = {"release": "<2.13"}


def inputs():
    return torch.randn(8), {"scale": torch.rand(8), "shift": torch.rand(8)}


def broken(x, weights):
    return x * next(weights.values())


def fixed(x, weights):
    """Use this when you want the first value. Make an iterator with `iter`
    first."""
    return x * next(iter(weights.values()))
