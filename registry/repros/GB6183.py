"""The function given to `map` changes a tensor from outside in place. All rows
share this tensor, so the result would depend on the order of the rows."""
import torch
from torch._higher_order_ops import map as map_rows

REACH = "private"
EAGER_RAISES = "UncapturedHigherOrderOpError"
REQUIRES = {"release": ">=2.14"}


def inputs():
    return torch.randn(4, 3), torch.zeros(3)


@torch.no_grad()
def broken(x, largest):
    def scale(row):
        largest.copy_(torch.maximum(largest, row))
        return row / row.norm()

    return map_rows(scale, x)


@torch.no_grad()
def fixed(x, largest):
    """Use this when you collect something over the rows. Let the function
    return only what belongs to its row, and collect over all rows outside."""
    largest.copy_(torch.maximum(largest, x.amax(0)))
    return torch.vmap(lambda row: row / row.norm())(x)
