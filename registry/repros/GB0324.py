"""The operator behind `scan` was given a tensor without rows. Dynamo records
the step on the first row, and here there is none."""
import functools

import torch
from torch._higher_order_ops import scan

REACH = "private"
EAGER_RAISES = "IndexError"


def inputs():
    return (torch.randn(0, int(torch.randint(1, 99, ()))),)


def add(total, row):
    return total + row, total + row


def step(*args, combine_fn):
    return combine_fn(*args)


def broken(x):
    start = [torch.zeros(x.size(1))]
    fn = functools.partial(step, combine_fn=add)
    return torch.ops.higher_order.scan(fn, start, [x], ())


def fixed(x):
    """Use this when the input of the scan may be empty. Check its length
    first. Dynamo knows the shape, so the `if` costs nothing in the graph."""
    start = torch.zeros(x.size(1))
    if len(x) == 0:
        return start, x.clone()
    return scan(add, start, x)
