"""Your code, or a library, calls `torch._dynamo.graph_break()`, which splits
the graph in two. If the call has a message, that says why."""
import torch

TITLE = "Left over from debugging"


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    torch._dynamo.graph_break()
    return x.cos()


def fixed(x):
    """Use this when nothing depends on the split. Delete the call."""
    x = x.sin()
    return x.cos()
