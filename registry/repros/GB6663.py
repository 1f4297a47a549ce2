"""`autograd.grad` gets its tensors as the `.values()` of a dict. In eager mode
any iterable will do; Dynamo knows a tensor, a list, a tuple, and a dict."""
import torch

REACH = "config"
CONFIG = {"trace_autograd_ops": True}
GRADIENT = {
    "fixed": "An input that requires a gradient from outside still ends the"
    " graph."
}

model = torch.nn.Linear(4, 1)


def inputs():
    return (torch.randn(2, 4),)


def broken(x):
    weights = dict(model.named_parameters())
    return torch.autograd.grad(model(x).sum(), weights.values())


def fixed(x):
    """Use this when the tensors come from `.values()` or `model.parameters()`.
    Make a list of them."""
    weights = dict(model.named_parameters())
    return torch.autograd.grad(model(x).sum(), list(weights.values()))
