"""A helper in an `autograd.Function` lacks the decorator `staticmethod`. Called
on the class it works in Python all the same, but Dynamo calls only static and
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
    """Decorate the helper with `staticmethod`."""
    return Round.static_quantize(x)
