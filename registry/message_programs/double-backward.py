"""The program takes the gradient of a gradient, and the inner function is
compiled. The compiled backward pass has no backward pass of its own."""

import torch


def energy(x):
    return (x**3).sum()


def penalty(function):
    x = torch.arange(4.0, requires_grad=True)
    (gradient,) = torch.autograd.grad(function(x), x, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), x)
    return second


def message():
    penalty(torch.compile(energy, backend="aot_eager"))


def fixed_eager():
    """Use this when only one function needs second derivatives: leave that one uncompiled."""
    return penalty(energy)


def fixed_func():
    """Use this when the function is made of torch operations: build the derivatives with torch.func, then compile."""

    def second(x):
        return torch.func.grad(lambda y: torch.func.grad(energy)(y).sum())(x)

    return torch.compile(second, backend="aot_eager")(torch.arange(4.0))


def eager():
    return penalty(energy)
