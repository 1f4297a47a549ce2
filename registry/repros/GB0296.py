"""`print` may be moved to the end of the graph, because the configuration says
so. But Dynamo does that only if each argument is a tensor, a number or a
string, and this one is a list."""
import torch

REACH = "config"
CONFIG = {"reorderable_logging_functions": {print}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    limits = [x.min(), x.max()]
    print(limits)
    return x.sin()


def fixed(x):
    """Use this when the tensors to print are in a list. Pass the tensors
    themselves, one argument each."""
    limits = [x.min(), x.max()]
    print(*limits)
    return x.sin()
