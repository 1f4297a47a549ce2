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
    """Return a tuple and build the object outside."""
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
    """You may change the class: a named tuple counts as a container."""
    pair = torch.cond(
        len(x) > 4,
        lambda x: Known(x.sin(), x.cos()),
        lambda x: Known(x.cos(), x.sin()),
        (x,),
    )
    return pair.a - pair.b
