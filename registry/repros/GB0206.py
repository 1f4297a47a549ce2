"""`requires_grad` of a tensor is set inside the compiled function. The tensor
becomes a new starting point for gradients in the middle of the graph, and
Dynamo doesn't trace the assignment."""
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
    """Use this when you want the gradient of a function. `torch.func.grad`
    needs no flag."""
    return torch.func.grad(lambda y: y.sin().sum())(x.detach())


def fixed_flag(x):
    """Use this when you keep `torch.autograd.grad`. Call `requires_grad_()`,
    and set the flag `trace_autograd_ops`. The cost: you may return the
    gradient, but not `y`."""
    y = x.detach().requires_grad_()
    (grad,) = torch.autograd.grad(y.sin().sum(), y)
    return grad
