"""Code looks into a type annotation, such as `Optional[int]`, with
`hasattr`. You meet this in libraries that build objects from types."""
import typing

import torch

TITLE = "hasattr on a type"

FIELD = typing.Optional[int]


def inputs():
    return (torch.randn(8),)


def broken(x):
    if hasattr(FIELD, "__origin__"):
        x = x.exp()
    return x.sin()


def fixed(x):
    """Use this when you want to know whether a type has an `__origin__`.
    `typing.get_origin` answers that, and returns None for a plain type."""
    if typing.get_origin(FIELD) is not None:
        x = x.exp()
    return x.sin()
