"""The extra tensors of a scan were handed to the operator in a deque. The
operator takes a tuple or a list, in eager mode, too."""
import collections
import functools

import torch
from torch._higher_order_ops import scan

TITLE = "A deque"
REACH = "private"
EAGER_RAISES = "AssertionError"
FLAGS = {"fixed": {"capture_scalar_outputs": True}}


def inputs():
    return torch.randn(4, 3), torch.rand(3)


def add(total, row, decay):
    return total * decay + row, total + row


def step(*args, combine_fn):
    return combine_fn(*args)


def broken(x, decay):
    fn = functools.partial(step, combine_fn=add)
    start, extra = [x.new_zeros(3)], collections.deque([decay])
    return torch.ops.higher_order.scan(fn, start, [x], extra)


def fixed(x, decay):
    """Use this when the step needs extra tensors. Call the documented wrapper:
    the function just uses the tensors it sees. Inductor needs the flag
    `capture_scalar_outputs` for a scan. With it, `.item()` elsewhere also
    stays in the graph, as a number not known yet."""
    return scan(lambda t, row: add(t, row, decay), x.new_zeros(3), x)
