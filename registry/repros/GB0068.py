"""The `backward` of an `autograd.Function` asks whether the incoming gradient
is conjugated, here through the class `torch.Tensor`. Dynamo traces `backward`
before there is a gradient, so it refuses to answer."""
import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        if torch.Tensor.is_conj(grad):
            grad = grad.resolve_conj()
        return grad * 2


class DoubleAnyGrad(Double):
    @staticmethod
    def backward(ctx, grad):
        return grad.resolve_conj() * 2


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    return Double.apply(x).sin()


def fixed(x):
    """Use this when you ask only to decide whether to call `resolve_conj`.
    Call it without asking: it returns the tensor itself where there is nothing
    to resolve."""
    return DoubleAnyGrad.apply(x).sin()
