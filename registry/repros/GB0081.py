"""Sizes are traced as symbols here, and the program calls a method of `int` on
one. The symbol that stands for the size doesn't have that method."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(8),)


def broken(x):
    power_of_two = x.shape[0].bit_count() == 1
    return x * 2 if power_of_two else x


def fixed(x):
    """Use this when arithmetic gives the same answer. Use it instead of the
    method: symbols know the operators of `int`."""
    size = x.shape[0]
    power_of_two = size > 0 and size & (size - 1) == 0
    return x * 2 if power_of_two else x
