"""`dataclasses.fields` is asked about a class. Dynamo knows how to answer
it only for an instance."""
import dataclasses

import torch


@dataclasses.dataclass
class Pair:
    left: torch.Tensor
    right: torch.Tensor


FIELDS = dataclasses.fields(Pair)


def inputs():
    return (Pair(torch.randn(4), torch.randn(4)),)


def broken(pair):
    first = dataclasses.fields(Pair)[0]
    return getattr(pair, first.name) + 1


def fixed(pair):
    """Use this when you have an instance of the class. Call
    `dataclasses.fields` on the instance."""
    first = dataclasses.fields(pair)[0]
    return getattr(pair, first.name) + 1


def fixed_outside(pair):
    """Use this when you have only the class. Call `dataclasses.fields` once,
    outside the compiled function."""
    first = FIELDS[0]
    return getattr(pair, first.name) + 1
