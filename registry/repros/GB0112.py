"""A torch function is called with an argument it doesn't have. Dynamo tries
the call on fake tensors, which have a shape but no data, and it fails there as
it fails in eager mode."""
import torch

EAGER_RAISES = "TypeError"


def inputs():
    return (torch.randn(4, 2),)


def broken(x):
    return torch.sum(x, axes=0)


def fixed(x):
    """Use this when the call fails in eager mode, too. Correct it: `torch.sum`
    names this argument `dim`."""
    return torch.sum(x, dim=0)
