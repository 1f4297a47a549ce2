"""The start value of a scan was handed to the operator in a deque. Dynamo
takes a list or a tuple there."""
import collections
import functools

import torch
from torch._higher_order_ops import scan

REACH = "private"
FLAGS = {"fixed": {"capture_scalar_outputs": True}}


def inputs():
    return (torch.randn(4, 3),)


def add(total, row):
    return total + row, total + row


def step(*args, combine_fn):
    return combine_fn(*args)


def broken(x):
    start, rows = collections.deque([x.new_zeros(3)]), [x]
    fn = functools.partial(step, combine_fn=add)
    return torch.ops.higher_order.scan(fn, start, rows, ())


def fixed(x):
    """Use this when you scan many rows, or a number of rows that changes. Call
    the documented wrapper: it takes any container of tensors. Inductor needs
    the flag `capture_scalar_outputs` for a scan. With it, `.item()` elsewhere
    also stays in the graph, as a number not known yet."""
    return scan(add, x.new_zeros(3), x)


def fixed_loop(x):
    """Use this when you have few rows, and always the same number. Write a
    Python loop: Dynamo unrolls it."""
    total, totals = x.new_zeros(3), []
    for row in x:
        total = total + row
        totals.append(total)
    return total, torch.stack(totals)
