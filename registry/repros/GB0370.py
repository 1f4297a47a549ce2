"""With this flag, a `record_function` region becomes part of the graph. The
whole region must then be in one graph, but the `print` inside it ends the
graph."""
import torch

CONFIG = {"capture_profiler_record_function": True}
REACH = "config"


def inputs():
    return (torch.randn(4),)


def broken(x):
    with torch.profiler.record_function("sin"):
        print("x", x)
        return x.sin()


def fixed(x):
    """Use this when the region must stay as it is. Fix what breaks the graph
    inside it. Here, use torch's own `print`, which can be part of a graph."""
    with torch.profiler.record_function("sin"):
        torch._higher_order_ops.print("x {}", x)
        return x.sin()
