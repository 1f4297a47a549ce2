"""The function under activation checkpointing appends to a list from
outside. It runs a second time in the backward pass, so Dynamo doesn't let
it change anything outside itself."""
import torch
from torch.utils.checkpoint import checkpoint


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    peaks = []

    def block(x):
        peaks.append(x.max())
        return x.sin()

    y = checkpoint(block, x, use_reentrant=False)
    return y, peaks


def fixed(x):
    """Return what you want to keep, and put it into the list afterwards."""

    def block(x):
        return x.sin(), x.max()

    y, peak = checkpoint(block, x, use_reentrant=False)
    return y, [peak]
