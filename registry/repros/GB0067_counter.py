"""A function under activation checkpointing changes a variable of the function
around it, with `nonlocal`. You meet this with counters and with running sums
of losses."""
import torch
from torch.utils.checkpoint import checkpoint

TITLE = "nonlocal"


def inputs():
    return (torch.randn(4),)


def broken(x):
    penalty = 0.0

    def block(x):
        nonlocal penalty
        penalty = penalty + x.square().mean()
        return x.sin()

    y = checkpoint(block, x, use_reentrant=False)
    return y.sum() + penalty


def fixed(x):
    """Use this when the block can return its part of the sum. Add it up
    outside."""

    def block(x):
        return x.sin(), x.square().mean()

    y, penalty = checkpoint(block, x, use_reentrant=False)
    return y.sum() + penalty
