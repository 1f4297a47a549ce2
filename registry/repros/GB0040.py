"""A branch of `torch.cond` returns its input unchanged. The result of
`torch.cond` must be a new tensor whichever branch runs, never one of the
inputs."""
import torch

EAGER_RAISES = "UncapturedHigherOrderOpError"


def inputs():
    return (torch.randn(8),)


def broken(x):
    return torch.cond(x.sum() < 0, torch.neg, lambda x: x, (x,))


def fixed(x):
    """Use this when a branch has nothing to do. Let it return a copy."""
    return torch.cond(x.sum() < 0, torch.neg, lambda x: x.clone(), (x,))
