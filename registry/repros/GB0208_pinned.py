"""A method of a tensor returns a plain value, and Dynamo has no rule for this
one: `is_pinned()`, `is_shared()`, `sparse_dim()`. You meet `is_pinned()` in
code that moves batches to a device."""
import torch

TITLE = "x.is_pinned()"


def inputs():
    return (torch.randn(4),)


def broken(x):
    x = x.to("cpu", non_blocking=x.is_pinned())
    return x.exp()


def fixed(x):
    """Use this when `is_pinned()` only chooses the value of `non_blocking`.
    `non_blocking=True` is allowed for every tensor. It copies in the
    background if the memory is pinned, and in the normal way if not."""
    x = x.to("cpu", non_blocking=True)
    return x.exp()
