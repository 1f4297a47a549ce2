"""A static method of an `autograd.Function` is an object that can be called
but not hashed: a dataclass that compares its fields. Dynamo looks callables up
by their hash, so it finds no rule for this one."""
import dataclasses

import torch
from torch.autograd import Function

REACH = "contrived"
NEIGHBOUR = "GB0139"
REQUIRES = {"release": ">=2.15"}


@dataclasses.dataclass
class Scale:
    by: float

    def __call__(self, x):
        return x * self.by


class Clip(Function):
    after = staticmethod(Scale(2.0))

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad.clamp(-1, 1)


class PlainClip(Clip):
    @staticmethod
    def after(x):
        return x * 2.0


def inputs():
    return (torch.randn(8),)


def broken(x):
    return Clip.after(Clip.apply(x))


def fixed(x):
    """Use this when you can write the static method as a function. Dynamo
    traces functions."""
    return PlainClip.after(PlainClip.apply(x))
