"""The input has a history: it was computed from a tensor that needs gradients.
`autograd.grad` would go back into that history, which is outside the compiled
function, and Dynamo can't see it."""
import torch

REACH = "config"
CONFIG = {"trace_autograd_ops": True}

head = torch.nn.Linear(4, 1)


def inputs():
    features = torch.randn(4, requires_grad=True) * 2
    return (features,)


def broken(features):
    return torch.autograd.grad(head(features).sum(), head.weight)


def fixed(features):
    """Use this when you want gradients only for tensors that are used in here.
    Cut the history off with `detach`."""
    return torch.autograd.grad(head(features.detach()).sum(), head.weight)
