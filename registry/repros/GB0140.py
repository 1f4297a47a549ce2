"""A helper in an `autograd.Function` lacks the decorator `staticmethod`. In
Python you can still call it on the class, but Dynamo calls only static and
class methods on such a class."""
import torch


class Round(torch.autograd.Function):
    def quantize(x):
        return (x * 4).round() / 4

    @staticmethod
    def static_quantize(x):
        return (x * 4).round() / 4

    @staticmethod
    def forward(ctx, x):
        return Round.static_quantize(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


def inputs():
    return (torch.randn(8),)


def broken(x):
    return Round.quantize(x)


def fixed(x):
    """Use this when the helper does not use `self` or `cls`. Decorate it with
    `staticmethod`."""
    return Round.static_quantize(x)
