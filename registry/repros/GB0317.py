"""The scan operator was given a tensor without rows. Dynamo records the
combining function on the first row, and here there is none."""
import torch
from torch._higher_order_ops import associative_scan

REACH = "private"


def inputs():
    return (torch.randn(0, int(torch.randint(1, 99, ()))),)


def broken(x):
    (y,) = torch.ops.higher_order.associative_scan(
        lambda a, b: [torch.maximum(a, b)], [x], ()
    )
    return y + 1


def fixed(x):
    """Use this when the tensor to scan may have no rows. Check its length
    first. Dynamo knows the shape, so the `if` costs nothing in the graph."""
    if len(x) == 0:
        return x + 1
    return associative_scan(torch.maximum, x, 0, combine_mode="generic") + 1
