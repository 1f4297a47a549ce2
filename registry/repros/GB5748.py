"""`autograd.grad` is asked for a gradient at a `GradientEdge`, a place in the
autograd graph. It was made before the compiled function was called, and
Dynamo can't trace autograd nodes that come from outside."""
import torch
from torch.autograd.graph import get_gradient_edge

REACH = "config"
CONFIG = {"trace_autograd_ops": True}
GRADIENT = {
    "fixed": "An input that requires a gradient from outside still ends the"
    " graph."
}

weight = torch.nn.Parameter(torch.randn(4))
edge = get_gradient_edge(weight)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return torch.autograd.grad((weight * x).sin().sum(), edge)


def fixed(x):
    """Use this when you have the tensor that the edge was made from. Pass the
    tensor instead of the edge."""
    return torch.autograd.grad((weight * x).sin().sum(), weight)
