"""The code asks an `autograd.Function` for an attribute that it doesn't have,
and handles the error. Dynamo only reads attributes that the class has."""
import torch
from torch.autograd import Function

REQUIRES = {"release": ">=2.15"}


class Clip(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad.clamp(-1, 1)


class ClipWithScale(Clip):
    @staticmethod
    def scale():
        return None


SCALE = None


def inputs():
    return (torch.randn(8),)


def broken(x):
    y = Clip.apply(x)
    try:
        return y * Clip.scale
    except AttributeError:
        return y


def fixed(x):
    """Use this when the value need not be part of the class. Keep it outside,
    with None where there is no value, and test for that."""
    y = Clip.apply(x)
    return y if SCALE is None else y * SCALE


def fixed_method(x):
    """Use this when each class has its own value. Return it from a static
    method, which every class has: Dynamo traces such methods. Don't use a
    class attribute here: Dynamo doesn't read its value."""
    y = ClipWithScale.apply(x)
    scale = ClipWithScale.scale()
    return y if scale is None else y * scale
