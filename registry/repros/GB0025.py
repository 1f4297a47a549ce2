"""Somebody put `torch._dynamo.graph_break()` here, most likely to look for
a problem. It does what it says and splits the graph in two."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    torch._dynamo.graph_break()
    return x.cos()


def fixed(x):
    """Nothing depends on the split: delete the call."""
    x = x.sin()
    return x.cos()
