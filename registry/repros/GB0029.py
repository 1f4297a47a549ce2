"""A hook is registered on a tensor that the compiled code has computed. The
hook may do anything during the backward pass, and Dynamo traces the forward
pass only. It needs compiled autograd for it."""
import torch

REQUIRES = {"release": "<2.11"}


class ScaleGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad * 0.5


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    y = x.sin()
    y.register_hook(lambda grad: grad * 0.5)
    return y.exp()


def fixed(x):
    """Use this when the hook changes the gradient. Change it in the `backward`
    of your own `torch.autograd.Function`."""
    y = ScaleGradient.apply(x.sin())
    return y.exp()
