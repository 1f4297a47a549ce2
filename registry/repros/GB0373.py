"""`autograd.grad` is called in the compiled function while the backward pass
is compiled too (`compiled_autograd`). Dynamo doesn't do both at once."""
import torch

REACH = "config"
CONFIG = {"trace_autograd_ops": True, "compiled_autograd": True}
FLAGS = {"fixed_flag": {"compiled_autograd": False}}


def energy(x):
    return x.sin().sum()


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    (grad,) = torch.autograd.grad(energy(x), x)
    return grad


def fixed(x):
    """Use this when you want the gradient of a function that you can call. Use
    `torch.func.grad`. The `detach` is there because `autograd.grad` gives a
    gradient without history, unless you ask for `create_graph`."""
    return torch.func.grad(energy)(x.detach())


def fixed_flag(x):
    """Use this when you can do without `compiled_autograd`. Turn it off.
    Backward passes are then no longer captured as a whole."""
    (grad,) = torch.autograd.grad(energy(x), x)
    return grad
