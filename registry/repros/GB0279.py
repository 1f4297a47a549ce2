"""`torch.fx.traceback.annotate` marks the operators of a region. The region
must lie in one graph as a whole, but the `print` inside it ends the graph."""
import torch


def inputs():
    return (torch.randn(4),)


def broken(x):
    with torch.fx.traceback.annotate({"stage": 0}):
        print("x", x)
        return x.sin()


def fixed(x):
    """Use this when the region must stay as it is. Fix what breaks the graph
    inside it. Here, use torch's own `print`, which is part of the graph."""
    with torch.fx.traceback.annotate({"stage": 0}):
        torch._higher_order_ops.print("x {}", x)
        return x.sin()
