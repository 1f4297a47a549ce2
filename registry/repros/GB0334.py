"""The operator that export puts around autocast code was called by hand, with
a function that uses a tensor from outside. Dynamo wants every tensor passed as
an argument here."""
import torch
from torch._higher_order_ops.wrap import wrap_with_autocast

REACH = "private"


def inputs():
    return torch.randn(4, 4), torch.randn(4, 4)


def broken(x, y):
    return wrap_with_autocast(
        "cpu", torch.bfloat16, True, True, lambda x: x @ y, x
    )


def fixed(x, y):
    """Use this when you write the autocast code yourself. Use the public
    context manager, `torch.autocast`: it does the same."""
    with torch.autocast("cpu", torch.bfloat16, True, True):
        return x @ y


def fixed_argument(x, y):
    """Use this when you generate such calls. Pass each tensor that the
    function needs as an argument."""
    return wrap_with_autocast(
        "cpu", torch.bfloat16, True, True, torch.mm, x, y
    )
