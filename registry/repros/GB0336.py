"""`out_dtype` runs an operator and gives the result another dtype. Here one
argument of the operator was passed by name, and it takes none by name."""
import torch
from torch._higher_order_ops.out_dtype import out_dtype

REACH = "private"
EAGER_RAISES = "TypeError"


def inputs():
    return (torch.randint(9, (4, 4), dtype=torch.int8),)


def broken(x):
    return out_dtype(torch.ops.aten.mm.default, torch.int32, x, mat2=x)


def fixed(x):
    """Use this when the inner operator takes more than one argument. Pass all
    of its arguments by position."""
    return out_dtype(torch.ops.aten.mm.default, torch.int32, x, x)
