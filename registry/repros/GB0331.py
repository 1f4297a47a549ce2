"""The operator that export puts around code without gradients was called by
hand, and whether gradients are on depends on a dynamic shape. Dynamo must know
that while it traces."""
import torch
from torch._higher_order_ops.wrap import wrap_with_set_grad_enabled

REACH = "private"
COMPILE = {"dynamic": True}


def inputs():
    n = int(torch.randint(2, 9, ()))
    return (torch.randn(n, requires_grad=True),)


def broken(x):
    return wrap_with_set_grad_enabled(len(x) > 4, torch.sin, x)


def fixed(x):
    """Use this when the shape decides whether gradients are on. Decide with
    `if`, and use the public context managers. Dynamo guards on the shape and
    compiles once for each side."""
    if len(x) > 4:
        with torch.enable_grad():
            return torch.sin(x)
    with torch.no_grad():
        return torch.sin(x)
