"""The `forward` of a custom autograd function is an object that can be called,
not a function. Dynamo traces functions and methods only here."""
import functools

import torch


def scale(ctx, x, by):
    ctx.by = by
    return x * by


class Double(torch.autograd.Function):
    forward = staticmethod(functools.partial(scale, by=2))

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.by


class DoubleDef(Double):
    @staticmethod
    def forward(ctx, x):
        return scale(ctx, x, by=2)


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    return Double.apply(x)


def fixed(x):
    """Use this when `forward` is a callable object, such as a
    `functools.partial`. Write `forward` with `def`, and call the object from
    there."""
    return DoubleDef.apply(x)
