"""A custom autograd function marks its input as changed in place and returns
the result of the in-place call. In eager mode that is the input itself, but
Dynamo records a new value and no longer sees the input among the outputs."""
import torch


class AddOne(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad


class AddOneReturned(AddOne):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.add_(1)
        return x


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    return AddOne.apply(x.sin())


def fixed(x):
    """Use this when `forward` has to change its input in place. Do the
    in-place step first, then return the input by its name."""
    return AddOneReturned.apply(x.sin())
