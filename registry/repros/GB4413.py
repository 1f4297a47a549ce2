"""Inside a checkpointed function, a number on an object from outside is
changed. Dynamo traces that function separately, and allows only changes that
are undone before it returns."""
import torch
from torch.utils.checkpoint import checkpoint


class Stats:
    def __init__(self):
        self.calls = 0


def inputs():
    return Stats(), torch.randn(4)


def broken(stats, x):
    def block(x):
        stats.calls += 1
        return x.sin()

    return checkpoint(block, x, use_reentrant=False)


def fixed(stats, x):
    """Use this when the object needn't change inside the checkpointed
    function. Change it outside. The backward, which runs that function again,
    then doesn't repeat the change."""
    stats.calls += 1
    return checkpoint(torch.sin, x, use_reentrant=False)


def fixed_flag(stats, x):
    """Use this when the change must stay inside. The flag below allows it. The
    change then happens once, in the forward. Eager repeats it when the
    backward runs the function again."""

    def block(x):
        stats.calls += 1
        return x.sin()

    return checkpoint(block, x, use_reentrant=False)


FLAGS = {"fixed_flag": {"skip_fwd_side_effects_in_bwd_under_checkpoint": True}}
