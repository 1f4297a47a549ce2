"""`backward(inputs=...)` gets something that is not a tensor, list, tuple or
dict, and Dynamo doesn't look for tensors inside it."""
import torch

REACH = "config"
CONFIG = {"trace_autograd_ops": True}
GRADIENT = {
    "fixed": "An input that requires a gradient from outside still ends the"
    " graph."
}


def inputs():
    return torch.nn.Linear(4, 1), torch.randn(2, 4)


def broken(layer, x):
    weights = dict(layer.named_parameters())
    layer(x).sum().backward(inputs=weights.values())
    return layer.weight.grad


def fixed(layer, x):
    """Use this when your tensors are in another iterable, such as `.values()`.
    Make a list of it."""
    weights = dict(layer.named_parameters())
    layer(x).sum().backward(inputs=list(weights.values()))
    return layer.weight.grad
