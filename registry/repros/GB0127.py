"""`resize_as_` gives an existing tensor the shape of another one and, where
that needs more room, other memory. Dynamo doesn't trace it."""
import torch


def inputs():
    return torch.randn(8), torch.randn(2, 3)


def broken(x, like):
    y = x.sin()
    return y.resize_as_(like)


def fixed(x, like):
    """The tensor shrinks: take the elements you need and view them."""
    y = x.sin()
    return y[: like.numel()].view_as(like)
