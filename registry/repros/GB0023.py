"""`==` compares two `functools.partial` objects that hold a tensor. Dynamo
compares objects of such types only if it knows their values while tracing,
and it doesn't know a tensor's value."""
import functools

import torch

REQUIRES = {"release": "<2.13"}


def inputs():
    return torch.randn(8), bool(torch.rand(()) > 0.5)


def broken(x, multiply):
    times = functools.partial(torch.mul, x)
    plus = functools.partial(torch.add, x)
    act = times if multiply else plus
    return act(2) if act == times else act(3)


def fixed(x, multiply):
    """Use this when the two hold different functions. Compare these."""
    times = functools.partial(torch.mul, x)
    plus = functools.partial(torch.add, x)
    act = times if multiply else plus
    return act(2) if act.func is torch.mul else act(3)


def fixed_flag(x, multiply):
    """Use this when you know why you chose the one. Ask for that again."""
    times = functools.partial(torch.mul, x)
    plus = functools.partial(torch.add, x)
    act = times if multiply else plus
    return act(2) if multiply else act(3)
