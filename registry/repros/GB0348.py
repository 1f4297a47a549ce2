"""The `backward` of a custom autograd function is an object that can be called,
not a function. Dynamo traces functions and methods only here."""
import functools

import torch

REQUIRES = {"release": ">=2.10,<2.11"}


def scale(ctx, grad, by):
    return grad * by


class Damped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    backward = staticmethod(functools.partial(scale, by=0.1))


class DampedDef(Damped):
    @staticmethod
    def backward(ctx, grad):
        return scale(ctx, grad, by=0.1)


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    return Damped.apply(x)


def fixed(x):
    """Use this when `backward` is a callable object, such as a
    `functools.partial`. Write `backward` with `def`, and call the object from
    there."""
    return DampedDef.apply(x)
