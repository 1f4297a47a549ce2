"""The operator behind `torch.cond` was called without its last argument, the
tuple of operands. Unlike `torch.cond`, it has no default for that."""
import torch

REACH = "private"
EAGER_RAISES = "TypeError"


def inputs():
    return (torch.randn(8),)


def broken(x):
    cond = torch.ops.higher_order.cond
    return cond(x.sum() > 0, lambda: x.sin(), lambda: x.cos())


def fixed(x):
    """Use this when the branches take no arguments. Call the public function,
    `torch.cond`: there you may leave the operands out."""
    return torch.cond(x.sum() > 0, lambda: x.sin(), lambda: x.cos())
