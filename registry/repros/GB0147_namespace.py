"""A model collects its results in a `SimpleNamespace`. It looks like a Python
class and is written in C."""
import types
from dataclasses import dataclass

import torch

TITLE = "SimpleNamespace"


@dataclass
class Statistics:
    mean: torch.Tensor
    spread: torch.Tensor


def inputs():
    return (torch.randn(8),)


def broken(x):
    found = types.SimpleNamespace(mean=x.mean(), spread=x.std())
    return (x - found.mean) / found.spread


def fixed(x):
    """Use this when you know the names of the attributes. Write a dataclass
    with the same attributes; Dynamo traces it."""
    found = Statistics(mean=x.mean(), spread=x.std())
    return (x - found.mean) / found.spread
