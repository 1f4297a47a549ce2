"""The operator that export puts around autocast code was called by hand, with
a keyword for the function inside. Dynamo takes no keywords here."""
import torch
from torch._higher_order_ops.wrap import wrap_with_autocast

REACH = "private"


def inputs():
    return (torch.randn(4, 4),)


def broken(x):
    return wrap_with_autocast(
        "cpu", torch.bfloat16, True, True, torch.mm, x, mat2=x
    )


def fixed(x):
    """Use this when you want autocast for a part of your code. Use the public
    context manager, `torch.autocast`: this operator stands for it."""
    with torch.autocast("cpu", torch.bfloat16, True, True):
        return torch.mm(x, mat2=x)
