"""A function that Dynamo was told to put into the graph as it is returns a
dict. What a graph computes must be tensors, or tuples and lists of them."""
import torch


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
    """Return a tuple from the function that goes into the graph."""
    low, high = split_tuple(x)
    return high - low
