"""`issubclass` is called with a `torch.autograd.Function`. Dynamo has a
special rule for running those, and under that rule the class isn't available
as a value."""
import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def inputs():
    return (torch.randn(8),)


def broken(x):
    if issubclass(Double, torch.autograd.Function):
        x = Double.apply(x)
    return x.sin()


IS_FUNCTION = issubclass(Double, torch.autograd.Function)


def fixed(x):
    """Use this when the class is known beforehand. Ask once, outside the
    compiled function."""
    if IS_FUNCTION:
        x = Double.apply(x)
    return x.sin()
