"""A method of a type hint is called, here `__format__`. Dynamo knows some
operators and functions for type hints, but can't call all of their methods."""
from typing import List

import torch

REACH = "contrived"
NEIGHBOUR = "GB2861"

Shape = List[int]


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.sin(), Shape.__format__("")


def fixed(x):
    """Use this when you want a type hint as text. Call `str`, or put the hint
    into an f-string."""
    return x.sin(), str(Shape)
