"""The operator that export puts around autocast code was called by hand, and
whether autocast is on depends on a dynamic shape. Dynamo must know that while
it traces."""
import torch
from torch._higher_order_ops.wrap import wrap_with_autocast

REACH = "private"
COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(int(torch.randint(2, 9, ())), 4),)


def broken(x):
    return wrap_with_autocast(
        "cpu", torch.bfloat16, len(x) > 4, True, torch.mm, x, x.t()
    )


def fixed(x):
    """Use this when the shape decides whether autocast is on. Decide with
    `if`, and use the public context manager. Dynamo guards on the shape and
    compiles once for each side."""
    if len(x) > 4:
        with torch.autocast("cpu", torch.bfloat16):
            return torch.mm(x, x.t())
    with torch.autocast("cpu", enabled=False):
        return torch.mm(x, x.t())
