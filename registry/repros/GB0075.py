"""A class is defined inside the compiled function. Dynamo can trace a function
that is defined there, but not the body of a class."""
import torch

REQUIRES = {"release": "<2.10"}


class Scale:
    def __init__(self, factor):
        self.factor = factor

    def apply(self, x):
        return x * self.factor


def inputs():
    return (torch.randn(8),)


def broken(x):
    class Double:
        def apply(self, x):
            return x * 2

    return Double().apply(x)


def fixed(x):
    """Use this when you can define the class outside. Give it what it needs
    from the function as arguments of its constructor."""
    return Scale(2).apply(x)


def fixed_function(x):
    """Use this when the class has only one method. Define a function: Dynamo
    can trace functions that are defined in the compiled code."""

    def double(x):
        return x * 2

    return double(x)
