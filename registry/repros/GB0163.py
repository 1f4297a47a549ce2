"""The program looks at `_base`, the tensor that a view was taken from. For a
tensor subclass Dynamo doesn't follow from view to base."""
import torch

REACH = "private"


class Image(torch.Tensor):
    pass


def inputs():
    return (torch.randn(4),)


def broken(x):
    top = x.as_subclass(Image)[:2]
    if top._base is not None:
        top = top.clone()
    return top.mul_(2)


def fixed(x):
    """Use this when you know that the tensor is a view, as after slicing. Copy
    it without a check."""
    top = x.as_subclass(Image)[:2].clone()
    return top.mul_(2)


def fixed_new(x):
    """Use this when the copy was there only to protect `x`. Compute a new
    tensor instead of changing one in place."""
    return x.as_subclass(Image)[:2] * 2
