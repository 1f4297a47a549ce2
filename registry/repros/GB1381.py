"""Two calls of `autograd.grad` go through the same autograd graph, and the
first doesn't keep it. Eager mode lets that pass where no tensor was saved for
the backward pass, as in this sum; compiled code can fail, so Dynamo
refuses."""
import torch

REACH = "config"
CONFIG = {"trace_autograd_ops": True}


def inputs():
    x, y = torch.randn(2, 4)
    return x.requires_grad_(), y.requires_grad_()


def broken(x, y):
    total = (x - 2 * y).sum()
    (grad_x,) = torch.autograd.grad(total, x)
    (grad_y,) = torch.autograd.grad(total, y)
    return x - grad_x, y - grad_y


def fixed(x, y):
    """Use this when you want both gradients in the same place. One call gives
    you both."""
    total = (x - 2 * y).sum()
    grad_x, grad_y = torch.autograd.grad(total, (x, y))
    return x - grad_x, y - grad_y


def fixed_retain(x, y):
    """Use this when the two calls have to stay separate. Let the first one
    keep the graph, with `retain_graph=True`."""
    total = (x - 2 * y).sum()
    (grad_x,) = torch.autograd.grad(total, x, retain_graph=True)
    (grad_y,) = torch.autograd.grad(total, y)
    return x - grad_x, y - grad_y
