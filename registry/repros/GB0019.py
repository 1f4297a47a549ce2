"""`forward` puts its `ctx` into a list that outlives the call. Dynamo has only
a stand-in for `ctx` while it traces, and can't make a real one to keep."""
import torch

EFFECTS = {"fixed": "It keeps the shape, and not the `ctx`."}

kept = []
facts = {}


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.shape = x.shape
        kept.append(ctx)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Plain(Double):
    @staticmethod
    def forward(ctx, x):
        facts["shape"] = x.shape
        return x * 2


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    y = Double.apply(x)
    return y, kept[-1].shape


def fixed(x):
    """Use this when you need only a few facts about the call. Keep those, here
    the shape, instead of the whole `ctx`."""
    y = Plain.apply(x)
    return y, facts["shape"]
