"""The branches of `torch.cond` return an object of a user's class. A branch
can only hand out tensors, integers and bools, alone or in containers."""
import dataclasses
from typing import NamedTuple

import torch

COMPILE = {"dynamic": True}


@dataclasses.dataclass
class Pair:
    a: torch.Tensor
    b: torch.Tensor


def inputs():
    return (torch.randn(int(torch.randint(2, 9, ()))),)


def broken(x):
    pair = torch.cond(
        len(x) > 4,
        lambda x: Pair(x.sin(), x.cos()),
        lambda x: Pair(x.cos(), x.sin()),
        (x,),
    )
    return pair.a - pair.b


def fixed(x):
    """Use this when you can't change the class. Return a tuple from each
    branch, and build the object outside `torch.cond`."""
    pair = Pair(
        *torch.cond(
            len(x) > 4,
            lambda x: (x.sin(), x.cos()),
            lambda x: (x.cos(), x.sin()),
            (x,),
        )
    )
    return pair.a - pair.b


class Known(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor


def fixed_named(x):
    """Use this when you may change the class. Make it a named tuple: that
    counts as a container."""
    pair = torch.cond(
        len(x) > 4,
        lambda x: Known(x.sin(), x.cos()),
        lambda x: Known(x.cos(), x.sin()),
        (x,),
    )
    return pair.a - pair.b
