"""The same tensor is passed twice to a custom autograd function. Dynamo has to
match each gradient with one input, and can't when two are the same."""
import torch


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y, grad * x


def inputs():
    return (torch.randn(4, requires_grad=True),)


def broken(x):
    return Product.apply(x, x)


def fixed(x):
    """Use this when the function doesn't write to its inputs. Pass a view as
    the second input: both gradients still reach `x`."""
    return Product.apply(x, x.view_as(x))


def fixed_clone(x):
    """Use this when the function writes to one of its inputs. Pass a copy."""
    return Product.apply(x, x.clone())
