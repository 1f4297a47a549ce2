"""The step of a scan changes its running total in place. Only the start value
would change, and only in the first step, so Dynamo refuses."""
import torch
from torch._higher_order_ops import scan

REACH = "private"
EAGER_RAISES = "UncapturedHigherOrderOpError"
REQUIRES = {"release": ">=2.14"}
FLAGS = {"fixed": {"capture_scalar_outputs": True}}


def add_in_place(total, row):
    total.add_(row)
    return total.clone(), total.sin()


def add(total, row):
    total = total + row
    return total, total.sin()


def inputs():
    return (torch.randn(4, 3),)


@torch.no_grad()
def broken(x):
    return scan(add_in_place, x.new_zeros(3), x)


@torch.no_grad()
def fixed(x):
    """Use this when each step needs the total so far. Compute a new total and
    return it: the next step gets it. Inductor needs the flag
    `capture_scalar_outputs` for a scan. With it, `.item()` elsewhere also
    stays in the graph, as a number not known yet."""
    return scan(add, x.new_zeros(3), x)
