"""`requires_grad` of a tensor is set inside the compiled function. That makes
a new start for gradients in the middle of the graph, and Dynamo doesn't trace
the assignment."""
import torch

FLAGS = {"fixed_flag": {"trace_autograd_ops": True}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    y = x.detach()
    y.requires_grad = True
    (grad,) = torch.autograd.grad(y.sin().sum(), y)
    return grad


def fixed(x):
    """You want the gradient of a function: `torch.func.grad` needs no flag."""
    return torch.func.grad(lambda y: y.sin().sum())(x.detach())


def fixed_flag(x):
    """You keep `torch.autograd.grad`: call `requires_grad_()`, and set the flag
    `trace_autograd_ops`. Cost: you may return the gradient, but not `y`."""
    y = x.detach().requires_grad_()
    (grad,) = torch.autograd.grad(y.sin().sum(), y)
    return grad
