"""The operator that export puts around code without gradients was called by
hand, with a function that uses a tensor from outside. Dynamo wants every
tensor passed as an argument here."""
import torch
from torch._higher_order_ops.wrap import wrap_with_set_grad_enabled

REACH = "private"


def inputs():
    return torch.randn(8, requires_grad=True), torch.randn(8)


def broken(x, y):
    return wrap_with_set_grad_enabled(False, lambda x: x * y, x)


def fixed(x, y):
    """You write the code by hand: the public context manager does this."""
    with torch.set_grad_enabled(False):
        return x * y


def fixed_argument(x, y):
    """A program generates such calls: pass each tensor the function needs."""
    return wrap_with_set_grad_enabled(False, lambda x, y: x * y, x, y)
