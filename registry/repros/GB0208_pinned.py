"""A method of a tensor returns a plain value, and Dynamo has no rule for this
one: `is_pinned()`, `is_shared()`, `sparse_dim()`. You meet `is_pinned()` in
code that moves batches to a device."""
import torch

TITLE = "x.is_pinned()"


def inputs():
    return torch.randn(4), torch.randn(4)


def broken(x, weight):
    pinned = x.is_pinned()
    x = x.to(weight, non_blocking=pinned)
    return x * weight


def fixed(x, weight):
    """Use this when `is_pinned()` only chooses the value of `non_blocking`, and
    the copy goes to a GPU. There, `non_blocking=True` is allowed for every
    tensor: it copies in the background if the memory is pinned, and in the
    normal way if not. For a copy to the CPU leave the argument out: with it, the
    CPU may read the memory before the copy has filled it."""
    x = x.to(weight, non_blocking=True)
    return x * weight
