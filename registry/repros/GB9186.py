"""The compiled function calls `torch.autograd.grad`. By default Dynamo traces
the forward pass only, and this asks for a backward pass in the middle of
it."""
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
    """Use this when you can name the function that you differentiate.
    `torch.func.grad` puts its gradient into the graph. Leave out `detach` if
    you differentiate the result again."""
    return -torch.func.grad(energy)(x.detach())


def fixed_flag(x):
    """Use this when you want to keep the code. The flag `trace_autograd_ops`
    lets Dynamo trace it. The cost: to return the energy as well, you must
    detach it."""
    (slope,) = torch.autograd.grad(energy(x), x)
    return -slope
