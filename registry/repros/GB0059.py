"""`print` writes while the model runs, and a graph can't do that. Dynamo
ends the graph, lets Python print, and goes on with another graph."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    print("mean", x.mean())
    return x.cos()


def fixed(x):
    """The output must stay: torch 2.13 has a `print` that is part of the graph,
    still in a private module. It takes a format string."""
    x = x.sin()
    torch._higher_order_ops.print("mean {}", x.mean())
    return x.cos()
