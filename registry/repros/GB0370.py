"""With this flag, a `record_function` region becomes part of the graph. It must
then lie in one graph as a whole, but the `print` inside it ends the graph."""
import torch

CONFIG = {"capture_profiler_record_function": True}
REACH = "config"


def inputs():
    return (torch.randn(4),)


def broken(x):
    with torch.profiler.record_function("sin"):
        print("mean", x.mean())
        return x.sin()


def fixed(x):
    """The region must stay as it is: mend what breaks the graph inside it.
    Here torch's own `print` does it, which can be part of a graph."""
    with torch.profiler.record_function("sin"):
        torch._higher_order_ops.print("mean {}", x.mean())
        return x.sin()
