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
    """Use this when you write the code by hand. Use the public context
    manager, `torch.set_grad_enabled`: it does the same."""
    with torch.set_grad_enabled(False):
        return x * y


def fixed_argument(x, y):
    """Use this when a program generates such calls. Pass each tensor that the
    function needs as an argument."""
    return wrap_with_set_grad_enabled(False, lambda x, y: x * y, x, y)
