"""The `backward` of a `torch.autograd.Function` writes into a dict, a list or
an object outside. You meet this where gradients are measured."""
import torch

TITLE = "In an autograd.Function"
EFFECTS = {
    "fixed": "The norm is in the tensor `NORM`, and no longer in the dict `NORMS`."
}

NORMS = {}
NORM = torch.zeros(())


class Watched(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        NORMS["sin"] = grad.norm()
        return grad


class WatchedInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        NORM.copy_(grad.norm())
        return grad


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    return Watched.apply(x.sin()) * 2


def fixed(x):
    """Use this when the value is a tensor, such as the norm here. Write it
    into a tensor that exists already: an operator that changes a tensor in
    place can be part of the backward graph."""
    return WatchedInPlace.apply(x.sin()) * 2
