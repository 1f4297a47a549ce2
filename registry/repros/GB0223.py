"""A function is compiled inside a compiled function. Dynamo ignores an inner
`torch.compile` that gets the function as its one positional argument; used as
a decorator with options, it gets none."""
import torch


def double(x):
    return x * 2


def inputs():
    return (torch.randn(8),)


def broken(x):
    return torch.compile(backend="eager")(double)(x)


def fixed(x):
    """The function is compiled here and nowhere else: the outer `torch.compile`
    does it already, so leave the inner one out."""
    return double(x)


def fixed_argument(x):
    """This code also runs uncompiled: pass the function first, then options."""
    return torch.compile(double, backend="eager")(x)
