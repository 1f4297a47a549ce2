"""A function that Dynamo records as a unit, most often one under activation
checkpointing, changes something outside itself. It may run a second time in
the backward pass, so Dynamo doesn't let it do that."""
import torch
from torch.utils.checkpoint import checkpoint

TITLE = "Appending to a list"
FLAGS = {
    "fixed_flag": {"skip_fwd_side_effects_in_bwd_under_checkpoint": True}
}


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
    """Use this when you can change the function. Return what you want to keep,
    and put it into the list afterwards."""

    def block(x):
        return x.sin(), x.max()

    y, peak = checkpoint(block, x, use_reentrant=False)
    return y, [peak]


def fixed_flag(x):
    """Use this when you can't change the function, and the backward pass need
    not repeat the change. Set
    `skip_fwd_side_effects_in_bwd_under_checkpoint`."""
    peaks = []

    def block(x):
        peaks.append(x.max())
        return x.sin()

    y = checkpoint(block, x, use_reentrant=False)
    return y, peaks
