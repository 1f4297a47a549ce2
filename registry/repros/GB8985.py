"""`requires_grad_` is called on a tensor made inside the compiled function,
and the result depends on that tensor. The link to it would get lost on the way
out of the graph, so Dynamo ends the graph before the call."""
import torch


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    target = x.sin().detach().requires_grad_()
    return (x - target).square()


def fixed(x):
    """Use this when the caller never gets `target`, so nobody can read its
    gradient. Leave out `requires_grad_`. If someone reads the gradient, make
    the tensor outside."""
    target = x.sin().detach()
    return (x - target).square()
