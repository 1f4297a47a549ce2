"""A function marked `nonstrict_trace` returns an object of a class of your
own. The results of such a function go into the graph, and torch doesn't know
which tensors are in the object."""
import dataclasses

import torch


@dataclasses.dataclass
class Stats:
    mean: torch.Tensor
    std: torch.Tensor


@dataclasses.dataclass
class KnownStats:
    mean: torch.Tensor
    std: torch.Tensor


torch.export.register_dataclass(KnownStats)


@torch._dynamo.nonstrict_trace
def measure(x):
    return Stats(x.mean(), x.std())


@torch._dynamo.nonstrict_trace
def measure_known(x):
    return KnownStats(x.mean(), x.std())


@torch._dynamo.nonstrict_trace
def measure_pair(x):
    return x.mean(), x.std()


def inputs():
    return (torch.randn(8),)


def broken(x):
    stats = measure(x)
    return (x - stats.mean) / stats.std


def fixed(x):
    """Use this when the class is used in many places. Register it once."""
    stats = measure_known(x)
    return (x - stats.mean) / stats.std


def fixed_tuple(x):
    """Use this when the class is used only here. Return a tuple of tensors
    instead."""
    mean, std = measure_pair(x)
    return (x - mean) / std
