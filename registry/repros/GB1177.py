"""A checkpointed function sets an attribute of a module. A checkpointed part
becomes a graph of its own, and it must not change a module outside of it."""
import torch
from torch.utils.checkpoint import checkpoint

REACH = "private"


class Marked(torch.nn.Identity):
    # Asks Dynamo for the older, specialized treatment of this module. Without
    # it the same program stops with another message.
    torchdynamo_force_dynamic = False


marked = Marked()
model = torch.nn.Identity()


def inputs():
    return (torch.randn(8),)


def block(x):
    marked.last = x.sum()
    return marked(x).sin()


def broken(x):
    return checkpoint(block, x, use_reentrant=False)


def block_and_sum(x):
    return model(x).sin(), x.sum()


def fixed(x):
    """Use this when you need the value only after the checkpointed part.
    Return it, and assign it there. The module must not have the mark
    `torchdynamo_force_dynamic`."""
    y, model.last = checkpoint(block_and_sum, x, use_reentrant=False)
    return y
