"""The operator that export puts around code without gradients was called by
hand, with a keyword for the function inside. Dynamo takes no keywords here."""
import torch
from torch._higher_order_ops.wrap import wrap_with_set_grad_enabled

REACH = "private"


def inputs():
    return (torch.randn(8, requires_grad=True),)


def scale(x, by):
    return x * by


def broken(x):
    return wrap_with_set_grad_enabled(False, scale, x, by=2)


def fixed(x):
    """Use this when you write the code yourself. Use the public context
    manager, `torch.set_grad_enabled`: it does the same."""
    with torch.set_grad_enabled(False):
        return scale(x, by=2)
