"""The `forward` of a custom `autograd.Function` is a `functools.partial`, not
a function. Dynamo needs the code of a Python function or method there."""
import functools

import torch


def scale(ctx, x, factor):
    ctx.factor = factor
    return x * factor


class Scale(torch.autograd.Function):
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor


class PartialDouble(Scale):
    forward = functools.partial(scale, factor=2)


class Double(Scale):
    @staticmethod
    def forward(ctx, x):
        return scale(ctx, x, factor=2)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return PartialDouble.apply(x)


def fixed(x):
    """Use this when `forward` only calls another function with some arguments
    fixed. Write it as a static method, and let it make the call."""
    return Double.apply(x)
