"""A custom `autograd.Function` names its gradient rule `vjp`. Autograd accepts
that as another name for `backward`, but Dynamo knows only `backward`."""
import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def vjp(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x ** 2 * grad


class BackwardCube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x ** 2 * grad


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    return Cube.apply(x) + 1


def fixed(x):
    """Use this when the class is yours. Rename `vjp` to `backward`: to
    autograd the two names are the same."""
    return BackwardCube.apply(x) + 1
