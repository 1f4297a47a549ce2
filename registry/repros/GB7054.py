"""`backward` is to put a gradient on a tensor that was computed in the same
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
    """Let the gradient be a result: `torch.autograd.grad` returns it, and it
    takes any tensor. It needs the same flag, `trace_autograd_ops`."""
    hidden = x.sin()
    return torch.autograd.grad(hidden.square().sum(), hidden)[0]


def fixed_func(x):
    """You don't want that flag: `torch.func.grad` of what comes after. Leave
    `detach` out if you differentiate the result again."""
    return torch.func.grad(lambda y: y.square().sum())(x.sin().detach())
