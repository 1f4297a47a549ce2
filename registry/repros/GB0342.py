"""The operator behind `scan` was called with a plain function. Dynamo only
accepts what torch's own wrapper makes of a function."""
import torch
from torch._higher_order_ops import scan

REACH = "private"
FLAGS = {"fixed": {"capture_scalar_outputs": True}}


def inputs():
    return (torch.randn(4, 3),)


def add(total, row):
    return total + row, total + row


def broken(x):
    return torch.ops.higher_order.scan(add, [x.new_zeros(3)], [x], ())


def fixed(x):
    """Use this when the scan has many rows, or their number changes. Call the
    documented wrapper. Inductor needs the flag `capture_scalar_outputs` for a
    scan. With it, `.item()` elsewhere also stays in the graph, as a number not
    known yet."""
    return scan(add, x.new_zeros(3), x)


def fixed_loop(x):
    """Use this when the scan has few rows, and their number is fixed. Write a
    Python loop: Dynamo unrolls it."""
    total, totals = x.new_zeros(3), []
    for row in x:
        total = total + row
        totals.append(total)
    return total, torch.stack(totals)
