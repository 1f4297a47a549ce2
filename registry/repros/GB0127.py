"""`resize_as_` gives an existing tensor the shape of another one and, where
that needs more room, other memory. Dynamo doesn't trace it."""
import torch

LIMITS = {
    "fixed": {
        "size": "If the other tensor has more elements, `resize_as_` adds memory "
        "that may hold anything. Here that is an error."
    }
}


def inputs():
    return torch.randn(8), torch.randn(2, 3)


def broken(x, like):
    y = x.sin()
    return y.resize_as_(like)


def fixed(x, like):
    """Use this when the other tensor has fewer elements. Take as many elements
    as it has, and view them in its shape."""
    y = x.sin()
    return y[: like.numel()].view_as(like)
