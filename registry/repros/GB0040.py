"""A branch of `torch.cond` returns its input unchanged. The result of `torch.cond` must be a new tensor whichever branch runs, never one of the inputs."""
import torch

EAGER_RAISES = "UncapturedHigherOrderOpError"


def inputs():
    return (torch.randn(8),)


def broken(x):
    def flip(x):
        return -x

    def keep(x):
        return x

    return torch.cond(x.sum() < 0, flip, keep, (x,))


def fixed(x):
    """Return a copy of the input."""

    def flip(x):
        return -x

    def keep(x):
        return x.clone()

    return torch.cond(x.sum() < 0, flip, keep, (x,))
