"""The `backward` of an `autograd.Function` indexes the incoming gradient, and
a setting bans that. Dynamo notices only where the index is an attribute it
can't resolve: here `grad` of a computed tensor, which is None."""
import torch

REACH = "config"
CONFIG = {"_autograd_backward_strict_mode_banned_ops": ["__getitem__"]}


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return (grad[x.grad] * 2).sum(0)


class DoubleNamed(Double):
    @staticmethod
    def backward(ctx, grad):
        return (grad.unsqueeze(0) * 2).sum(0)


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    return Double.apply(x.sin())


def fixed(x):
    """Use this when indexing must stay banned. Use the operation that the
    index stands for. An index of None adds a dimension, which is
    `unsqueeze`."""
    return DoubleNamed.apply(x.sin())
