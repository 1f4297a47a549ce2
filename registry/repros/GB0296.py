"""`print` may be moved to the end of the graph, because the configuration says
so. But Dynamo does that only if each argument is a tensor, a number or a
string, and this one is a shape."""
import torch

REACH = "config"
CONFIG = {"reorderable_logging_functions": {print}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    print(x.shape, x.detach().mean())
    return x.sin()


def fixed(x):
    """Use this when an argument is a shape, or another value that is known
    while Dynamo traces. Make it text with an f-string. Of a list of tensors,
    pass each as an argument of its own."""
    print(f"{x.shape}", x.detach().mean())
    return x.sin()
