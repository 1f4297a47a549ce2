"""`autograd.grad` frees the autograd graph of the loss, and the loss is
returned afterwards. A graph that Dynamo makes can't hand out a tensor whose
autograd graph is gone."""
import torch

REACH = "config"
CONFIG = {"trace_autograd_ops": True}


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    loss = x.sin().sum()
    (grad,) = torch.autograd.grad(loss, x)
    return loss, grad


def fixed(x):
    """Use this when callers need the autograd graph of the loss. Keep it with
    `retain_graph=True`; that takes memory. If callers only look at the value
    of the loss, return `loss.detach()` instead."""
    loss = x.sin().sum()
    (grad,) = torch.autograd.grad(loss, x, retain_graph=True)
    return loss, grad
