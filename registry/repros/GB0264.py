"""`nn.Parameter` is made from a tensor that was computed inside the
compiled function. A parameter has to exist before the graph does."""
import torch

WEIGHT = torch.nn.Parameter(torch.full((4,), 0.1))


def inputs():
    return (torch.randn(4),)


def broken(x):
    weight = torch.nn.Parameter(torch.full_like(x, 0.1))
    return x * weight


def fixed(x):
    """Make the parameter once, outside, as a module does in `__init__`."""
    return x * WEIGHT
