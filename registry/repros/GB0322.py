"""The operator behind `scan` was called without a start value, because the
step needs nothing from the step before. Dynamo wants at least one."""
import functools

import torch
from torch._higher_order_ops import map as map_rows

REACH = "private"
FLAGS = {"fixed_map": {"capture_scalar_outputs": True}}


def inputs():
    return (torch.randn(4, 3),)


def wave(row):
    return [], row.sin()


def step(*args, combine_fn):
    return combine_fn(*args)


def broken(x):
    fn = functools.partial(step, combine_fn=wave)
    (y,) = torch.ops.higher_order.scan(fn, [], [x], ())
    return y


def fixed(x):
    """Use this when no step needs the step before, and memory is no problem.
    Call `torch.vmap`: it does all rows at once."""
    return torch.vmap(lambda row: wave(row)[1])(x)


def fixed_map(x):
    """Use this when the rows must be done one after the other, to save memory.
    Call `map`. Inductor needs the flag `capture_scalar_outputs` for it. With
    the flag, `.item()` elsewhere also stays in the graph, as a number not
    known yet."""
    return map_rows(lambda row: wave(row)[1], x)
