"""`retain_grad` asks autograd to keep the gradient of a tensor in the middle
of a computation. In compiled code such a tensor may never exist on its own, so
Dynamo doesn't trace the request."""
import torch

FLAGS = {"fixed": {"trace_autograd_ops": True}}


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    hidden = x.sin()
    hidden.retain_grad()
    hidden.square().sum().backward()
    return hidden.grad, x.grad


def fixed(x):
    """Use this when you can set the flag `trace_autograd_ops`. A backward pass
    inside a compiled function needs it. Compute the gradient of `hidden` with
    `torch.autograd.grad`, and go on backward from there. The cost: you may
    return `hidden` only detached."""
    hidden = x.sin()
    (grad,) = torch.autograd.grad(hidden.square().sum(), hidden)
    hidden.backward(grad)
    return grad, x.grad


def fixed_func(x):
    """Use this when you don't want the flag `trace_autograd_ops`. Cut the
    function in two at `hidden`, and differentiate the parts with `torch.func`.
    This sets `x.grad`, where `backward` would add to it."""
    hidden, pull_back = torch.func.vjp(torch.sin, x.detach())
    grad = torch.func.grad(lambda h: h.square().sum())(hidden)
    (x.grad,) = pull_back(grad)
    return grad, x.grad
