"""A function is compiled inside a compiled function. Dynamo ignores an inner
`torch.compile` if its one positional argument is the function. Here, as in a
decorator with options, it gets no positional argument."""
import torch


def double(x):
    return x * 2


def inputs():
    return (torch.randn(8),)


def broken(x):
    return torch.compile(backend="eager")(double)(x)


def fixed(x):
    """Use this when the function is compiled here and nowhere else. Leave the
    inner `torch.compile` out: the outer one compiles the function already."""
    return double(x)


def fixed_argument(x):
    """Use this when this code also runs uncompiled. Pass the function first,
    then the options."""
    return torch.compile(double, backend="eager")(x)
