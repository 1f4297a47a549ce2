"""The operator behind `map` was called with a keyword argument. Dynamo takes
its three arguments by position only."""
import torch
from torch._higher_order_ops import map as map_rows

REACH = "private"
FLAGS = {"fixed": {"capture_scalar_outputs": True}}


def inputs():
    return torch.randn(4, 3), torch.randn(3)


def broken(x, y):
    (out,) = torch.ops.higher_order.map_impl(
        lambda row, y: (row * y,), [x], pos_args=[y]
    )
    return out


def fixed(x, y):
    """Use this when memory is too small for all rows at once. Call the
    documented wrapper. Inductor needs the flag `capture_scalar_outputs` for
    `map`. With it, `.item()` elsewhere also stays in the graph, as a number
    not known yet."""
    return map_rows(lambda row, y: row * y, x, y)


def fixed_vmap(x, y):
    """Use this when there is memory for all rows at once. Call `torch.vmap`,
    which is public API."""
    return torch.vmap(lambda row: row * y)(x)
