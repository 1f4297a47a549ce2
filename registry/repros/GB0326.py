"""The operator behind `map` was given a tensor without rows. Dynamo records
the function on the first row, and here there is none."""
import torch
from torch._higher_order_ops import map as map_rows

REACH = "private"
EAGER_RAISES = "AssertionError"


def inputs():
    rows = 3 * int(torch.randint(2, ()))  # 0 or 3
    return (torch.randn(rows, 4),)


def broken(x):
    return torch.ops.higher_order.map_impl(torch.sin, [x], [])


def fixed(x):
    """Use this when the function needs a whole row, and there may be no rows.
    Check the length first. Dynamo knows the shape, so the `if` costs nothing
    in the graph."""
    if len(x) == 0:
        return x.clone()
    return map_rows(torch.sin, x)


def fixed_whole(x):
    """Use this when the function treats each number separately. Call it once,
    with the whole tensor."""
    return torch.sin(x)
