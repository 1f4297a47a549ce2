"""A function given to `torch.func.grad` has a graph break. Dynamo has to take
it whole, so it leaves the call to Python, and then declines to compile the
function on its own, inside `grad`."""
import torch


def loss(x):
    if x.mean() > 0:
        return x.sin().sum()
    return x.exp().sum()


def loss_without_break(x):
    return torch.where(x.mean() > 0, x.sin().sum(), x.exp().sum())


def inputs():
    return (torch.randn(8),)


def broken(x):
    return torch.func.grad(loss)(x)


def fixed(x):
    """Find the break in the function with `fullgraph=True` and mend it. Here it
    is an `if` on a tensor."""
    return torch.func.grad(loss_without_break)(x)
