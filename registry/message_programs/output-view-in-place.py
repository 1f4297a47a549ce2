"""The compiled function changes a tensor's shape in place and returns it. The
program then changes the result in place, which autograd forbids here."""

import torch


def grow(x):
    y = x * 2
    y.unsqueeze_(0)
    return y


def message():
    x = torch.ones(4, requires_grad=True)
    torch.compile(grow, backend="aot_eager")(x).mul_(3)


def fixed_new():
    """Use this when you can change the caller: make a new tensor instead of changing the result."""
    x = torch.ones(4, requires_grad=True)
    return (torch.compile(grow, backend="aot_eager")(x) * 3).detach()


def fixed_clone():
    """Use this when the caller must work in place: clone the result first."""
    x = torch.ones(4, requires_grad=True)
    return torch.compile(grow, backend="aot_eager")(x).clone().mul_(3).detach()


def fixed_function():
    """Use this when the function is yours: return a new tensor, not one reshaped in place."""
    x = torch.ones(4, requires_grad=True)
    return torch.compile(lambda x: (x * 2).unsqueeze(0), backend="aot_eager")(x).mul_(3).detach()


def eager():
    return grow(torch.ones(4, requires_grad=True)).mul_(3).detach()
