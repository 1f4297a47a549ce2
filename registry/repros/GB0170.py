"""An `if`, a `while` or another place where Python wants yes or no asks for
the value of a tensor. While Dynamo traces there are no values yet, so it can't
know which branch to follow."""
import torch

TITLE = "if on a tensor"


def inputs():
    return (torch.randn(8),)


def broken(x):
    if x.mean() > 0:
        return x.sin()
    return x.cos()


def fixed(x):
    """Use this when both branches are cheap. Compute both, and select with
    `torch.where`."""
    return torch.where(x.mean() > 0, x.sin(), x.cos())


def fixed_cond(x):
    """Use this when a branch is expensive. `torch.cond` records both branches
    and runs only one."""
    return torch.cond(x.mean() > 0, torch.sin, torch.cos, (x,))
