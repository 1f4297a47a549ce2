"""`forward` of a custom `autograd.Function` has a keyword-only argument.
`apply` can't pass such an argument on, so the program fails without
`torch.compile` as well."""
import torch

EAGER_RAISES = "TypeError"


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor


class PositionalScale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


def inputs():
    return (torch.randn(8),)


def broken(x):
    return Scale.apply(x, factor=2)


def fixed(x):
    """Use this when callers pass the argument by name. Take the star out of
    the signature. `apply` then accepts the argument by position and by
    name."""
    return PositionalScale.apply(x, factor=2)
