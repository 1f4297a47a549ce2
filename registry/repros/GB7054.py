"""`backward` should put a gradient on a tensor that was computed in the same
compiled function. Dynamo can do that only for leaves, such as parameters.
After the break the default backend gives None for it, without an error."""
import torch

REACH = "config"
CONFIG = {"trace_autograd_ops": True}


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    hidden = x.sin()
    hidden.square().sum().backward(inputs=[hidden])
    return hidden.grad


def fixed(x):
    """Use this when you can stay with the flag `trace_autograd_ops`: this fix
    needs it, too. Let `torch.autograd.grad` return the gradient. It takes any
    tensor."""
    hidden = x.sin()
    return torch.autograd.grad(hidden.square().sum(), hidden)[0]


def fixed_func(x):
    """Use this when you want to avoid the flag `trace_autograd_ops`. Call
    `torch.func.grad` on what comes after the tensor. Leave out `detach` if you
    differentiate the result again."""
    return torch.func.grad(lambda y: y.square().sum())(x.sin().detach())
