"""The function given to `map` changes an extra argument in place. All rows
share this tensor, so the result would depend on the order of the rows."""
import torch
from torch._higher_order_ops import map as map_rows

REACH = "private"
EAGER_RAISES = "UncapturedHigherOrderOpError"
REQUIRES = {"release": ">=2.14"}


def add_to(row, total):
    total.add_(row)
    return row / row.norm()


def inputs():
    return torch.randn(4, 3), torch.zeros(3)


@torch.no_grad()
def broken(x, total):
    return map_rows(add_to, x, total)


@torch.no_grad()
def fixed(x, total):
    """Use this when you sum something over the rows. Let the function return
    only what belongs to its row, and add up all rows outside."""
    total.add_(x.sum(0))
    return torch.vmap(lambda row: row / row.norm())(x)
