"""A function defined inside the compiled code is bound to an object with
`FunctionType.__get__`. Dynamo binds that way only functions that were defined
outside."""
import functools
import types

import torch


class Layer:
    factor = 3


LAYER = Layer()


def scale(layer, x):
    return layer.factor * x


def inputs():
    return (torch.randn(8),)


def broken(x):
    def scale(layer, x):
        return layer.factor * x

    return types.FunctionType.__get__(scale, LAYER)(x)


def fixed(x):
    """Use this when the function must be defined here. Bind it with
    `functools.partial`."""
    def scale(layer, x):
        return layer.factor * x

    return functools.partial(scale, LAYER)(x)


def fixed_outside(x):
    """Use this when you need a bound method. Define the function at module
    level."""
    return types.FunctionType.__get__(scale, LAYER)(x)
