"""Dynamo put a call into the graph as it is: a torch function that it has no
other rule for, or one marked `allow_in_graph`. The call then returned
something other than tensors, and that can't be a value in a graph."""
import torch

TITLE = "A dict from allow_in_graph"
ORDER = ["GB0208_settings", "GB0208_pinned", "GB0208_dtype", "GB0208_device", "GB0208"]


@torch.compiler.allow_in_graph
def split(x):
    return {"low": x.clamp(max=0), "high": x.clamp(min=0)}


@torch.compiler.allow_in_graph
def split_tuple(x):
    return x.clamp(max=0), x.clamp(min=0)


def inputs():
    return (torch.randn(4),)


def broken(x):
    parts = split(x)
    return parts["high"] - parts["low"]


def fixed(x):
    """Use this when you can change the function that goes into the graph.
    Return a tuple from it."""
    low, high = split_tuple(x)
    return high - low
