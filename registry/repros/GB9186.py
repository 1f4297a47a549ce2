"""The compiled function calls `torch.autograd.grad`. By default Dynamo
traces the forward pass only, and this asks for a backward pass in its
middle."""
import torch

FLAGS = {"fixed_flag": {"trace_autograd_ops": True}}


def inputs():
    return (torch.randn(4, requires_grad=True),)


def energy(x):
    return x.cos().sum()


def broken(x):
    (slope,) = torch.autograd.grad(energy(x), x)
    return -slope


def fixed(x):
    """You can name the function: `torch.func.grad` puts its gradient into the
    graph. Leave `detach` out if you differentiate the result again."""
    return -torch.func.grad(energy)(x.detach())


def fixed_flag(x):
    """You want to keep the code: the flag `trace_autograd_ops` lets Dynamo
    trace it. Cost: to return the energy as well, you must detach it."""
    (slope,) = torch.autograd.grad(energy(x), x)
    return -slope
