"""`print` of a tensor needs its values, and a graph can't print. Dynamo ends the graph, lets Python print, and goes on with another graph."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    print("mean", x.mean())
    return x.cos()


def fixed(x):
    """Recent torch has a `print` that becomes part of the graph; it takes a format string."""
    x = x.sin()
    torch._higher_order_ops.print("mean {}", x.mean())
    return x.cos()
