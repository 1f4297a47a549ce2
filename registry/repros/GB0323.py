"""The extra tensors of a scan were handed to the operator as a named tuple.
Dynamo takes a plain tuple or list there."""
import functools
from typing import NamedTuple

import torch
from torch._higher_order_ops import scan

TITLE = "A named tuple"
REACH = "private"
FLAGS = {"fixed": {"capture_scalar_outputs": True}}


class Extra(NamedTuple):
    decay: torch.Tensor


def inputs():
    return torch.randn(4, 3), torch.rand(3)


def add(total, row, decay):
    return total * decay + row, total + row


def step(*args, combine_fn):
    return combine_fn(*args)


def broken(x, decay):
    fn = functools.partial(step, combine_fn=add)
    start = [x.new_zeros(3)]
    return torch.ops.higher_order.scan(fn, start, [x], Extra(decay))


def fixed(x, decay):
    """Use this when the step needs extra tensors, and there are many rows.
    Call the documented wrapper: the function just uses the tensors it sees.
    Inductor needs the flag `capture_scalar_outputs` for a scan. With it,
    `.item()` elsewhere also stays in the graph, as a number not known yet."""
    return scan(lambda t, row: add(t, row, decay), x.new_zeros(3), x)


def fixed_loop(x, decay):
    """Use this when there are only a few rows, and their number is fixed. Call
    the step in a Python loop: Dynamo unrolls the loop."""
    total, outs = x.new_zeros(3), []
    for row in x:
        total, out = add(total, row, decay)
        outs.append(out)
    return total, torch.stack(outs)
