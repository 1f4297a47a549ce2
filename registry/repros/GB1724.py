"""`autograd.grad` takes a dict of tensors and returns the gradients under the
same keys. Dynamo needs keys that are constants; here they are modules."""
import torch

REACH = "config"
CONFIG = {"trace_autograd_ops": True}
GRADIENT = {
    "fixed": "An input that requires a gradient from outside still ends the"
    " graph.",
    "fixed_tuple": "An input that requires a gradient from outside still ends"
    " the graph.",
}

layer = torch.nn.Linear(4, 2)


def inputs():
    return (torch.randn(4),)


def broken(x):
    weights = {layer: layer.weight}
    return torch.autograd.grad(layer(x).sum(), weights)[layer]


def fixed(x):
    """Use this when you are free to choose the keys. Name the tensors with
    strings."""
    weights = {"weight": layer.weight}
    return torch.autograd.grad(layer(x).sum(), weights)["weight"]


def fixed_tuple(x):
    """Use this when you know the order of the tensors. Pass a tuple, and you
    get a tuple of gradients."""
    (grad,) = torch.autograd.grad(layer(x).sum(), (layer.weight,))
    return grad
