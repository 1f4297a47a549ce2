"""The operator behind `switch` was called without its last argument, the
tuple of operands. Unlike `switch`, it has no default for that."""
import torch

REACH = "private"
EAGER_RAISES = "TypeError"
REQUIRES = {"release": ">=2.14"}


def inputs():
    return torch.randn(8), torch.randint(2, ())


def broken(x, which):
    switch = torch.ops.higher_order.switch
    return switch(which, (lambda: x.sin(), lambda: x.cos()))


def fixed(x, which):
    """Use this when the branches take no arguments. Call the documented
    function: there you may leave the operands out."""
    switch = torch._higher_order_ops.switch
    return switch(which, (lambda: x.sin(), lambda: x.cos()))
