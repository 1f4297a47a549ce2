"""The class is a `TypedDict` whose keys may be left out (`total=False`).
Dynamo can create one only if every key is required."""
from typing import TypedDict

import torch


class Output(TypedDict, total=False):
    mean: torch.Tensor
    peak: torch.Tensor


class FullOutput(TypedDict):
    mean: torch.Tensor
    peak: torch.Tensor


def inputs():
    return (torch.randn(8),)


def broken(x):
    return Output(mean=x.mean(), peak=x.max())


def fixed(x):
    """Use this when keys may really be missing. A dict literal gives the same
    object, and the annotation still checks it."""
    output: Output = {"mean": x.mean(), "peak": x.max()}
    return output


def fixed_total(x):
    """Use this when every key is always there. Remove `total=False`."""
    return FullOutput(mean=x.mean(), peak=x.max())
