"""A custom autograd function sets the private flag that keeps autograd from
making zero gradients for outputs marked as non-differentiable. Dynamo does not
support a change of that flag."""
import torch

REACH = "private"


class Peak(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx._materialize_non_diff_grads = False
        value, index = x.max(0)
        ctx.mark_non_differentiable(index)
        ctx.save_for_backward(x, index)
        return value, index

    @staticmethod
    def backward(ctx, grad, _):
        x, index = ctx.saved_tensors
        return torch.zeros_like(x).index_fill(0, index, 1) * grad


class PeakPublic(Peak):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        value, index = x.max(0)
        ctx.mark_non_differentiable(index)
        ctx.save_for_backward(x, index)
        return value, index


class PeakPlain(Peak):
    @staticmethod
    def forward(ctx, x):
        value, index = x.max(0)
        ctx.mark_non_differentiable(index)
        ctx.save_for_backward(x, index)
        return value, index


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    return Peak.apply(x)


def fixed(x):
    """Use this when backward doesn't look at the gradient of that output.
    Leave the flag alone: backward then gets zeros instead of None."""
    return PeakPlain.apply(x)


def fixed_public(x):
    """Use this when the zeros would be large. Turn them off with the public
    method, `set_materialize_grads`. Backward must then expect None for any
    output that was not used."""
    return PeakPublic.apply(x)
