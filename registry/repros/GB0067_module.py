"""A module under activation checkpointing keeps an activation in an attribute.
You meet this with attention maps, and with losses that are added up later."""
import torch
from torch.utils.checkpoint import checkpoint

TITLE = "self.last = ..."
FLAGS = {
    "fixed_flag": {"skip_fwd_side_effects_in_bwd_under_checkpoint": True}
}


class Block(torch.nn.Module):
    last = None

    def forward(self, x):
        y = x.sin()
        self.last = y.mean().detach()
        return y * 2


class FixedBlock(torch.nn.Module):
    last = None

    def forward(self, x):
        y = x.sin()
        return y * 2, y.mean().detach()


block = Block()
fixed_block = FixedBlock()


def inputs():
    return (torch.randn(4),)


def broken(x):
    return checkpoint(block, x, use_reentrant=False)


def fixed(x):
    """Use this when you can change the module. Return the value, and let the
    caller keep it."""
    y, fixed_block.last = checkpoint(fixed_block, x, use_reentrant=False)
    return y


def fixed_flag(x):
    """Use this when you can't change the module, and the backward pass need
    not repeat the change. Set
    `skip_fwd_side_effects_in_bwd_under_checkpoint`."""
    return checkpoint(block, x, use_reentrant=False)
