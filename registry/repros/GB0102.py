"""The `backward` of an `autograd.Function` looks at the layout of the
incoming gradient. Dynamo traces `backward` before there is a gradient, so it
refuses to answer."""
import torch


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        if grad.layout == torch.sparse_coo:
            grad = grad.to_dense()
        return grad * 2


class DoubleIsSparse(Double):
    @staticmethod
    def backward(ctx, grad):
        if grad.is_sparse:
            grad = grad.to_dense()
        return grad * 2


FLAGS = {
    "fixed_flag": {
        "_autograd_backward_strict_mode_banned_ops": [
            "is_neg",
            "is_conj",
            "is_pinned",
        ]
    }
}


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    return Double.apply(x).sin()


def fixed(x):
    """Use this when you can change the class. `is_sparse` asks the same and is
    allowed. Either way, the compiled `backward` is made for a dense
    gradient."""
    return DoubleIsSparse.apply(x).sin()


def fixed_flag(x):
    """Use this when you can't change the class. Take `layout` off the list
    `_autograd_backward_strict_mode_banned_ops`. The compiled `backward` then
    assumes the layout that Dynamo saw while tracing."""
    return Double.apply(x).sin()
