"""`.item()` turns a tensor into a Python number, and that number exists
only once the graph has run. So Dynamo ends the graph there."""
import torch

FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    peak = x.abs().max().item()
    return x / peak


def fixed(x):
    """The number goes back into tensor arithmetic: leave it a tensor."""
    peak = x.abs().max()
    return x / peak


def fixed_flag(x):
    """You need a Python number: the flag `capture_scalar_outputs` keeps
    `.item()` in the graph (`fullgraph=True` turns it on by itself). The number
    is still unknown while tracing, so an `if` on it ends the graph."""
    peak = x.abs().max().item()
    return x / peak
