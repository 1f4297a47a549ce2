"""A module under activation checkpointing counts in a buffer, or updates a
running mean. Eager does this a second time in the backward pass, so the count
is too high there."""
import torch
from torch.utils.checkpoint import checkpoint

TITLE = "Updating a buffer"
EFFECTS = {
    "fixed": "Each step counts once. Before, the backward pass counted it again."
}


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        self.steps = self.steps + 1
        return x.sin()


class FixedBlock(Block):
    def forward(self, x):
        return x.sin()


block = Block()
fixed_block = FixedBlock()


def inputs():
    return (torch.randn(4),)


def broken(x):
    return checkpoint(block, x, use_reentrant=False)


def fixed(x):
    """Use this when the update can move out of the function under
    checkpointing. Update the buffer outside. Then it is also updated only once
    per step."""
    fixed_block.steps = fixed_block.steps + 1
    return checkpoint(fixed_block, x, use_reentrant=False)
