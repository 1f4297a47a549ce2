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
    """Call the documented wrapper. Inductor needs the flag
    `capture_scalar_outputs` for `map`; with it, `.item()` elsewhere also stays
    in the graph, as a number not known yet."""
    return map_rows(lambda row, y: row * y, x, y)


def fixed_vmap(x, y):
    """There is memory for all rows at once: `vmap` is public API."""
    return torch.vmap(lambda row: row * y)(x)
