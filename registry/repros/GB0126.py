"""`resize_` changes the shape of an existing tensor and, where that needs more
room, its memory. Dynamo doesn't trace it."""
import torch

LIMITS = {
    "fixed": {
        "size": "If there are fewer than 6 elements, `resize_` adds memory that "
        "may hold anything. Here that is an error."
    }
}


def inputs():
    return (torch.randn(8),)


def broken(x):
    y = x.sin()
    return y.resize_(2, 3)


def fixed(x):
    """Use this when the tensor shrinks. Take the elements you need and view
    them in the new shape."""
    y = x.sin()
    return y[:6].view(2, 3)
