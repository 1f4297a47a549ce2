"""A hook on a computed tensor asks how the gradient is laid out in memory.
Dynamo traces the hook before there is a gradient, so that is not known."""
import torch


def copy_if_needed(grad):
    return grad if grad.is_contiguous() else grad.contiguous()


def inputs():
    return (torch.randn(8, requires_grad=True),)


def broken(x):
    y = x.sin()
    y.register_hook(copy_if_needed)
    return y.cos()


def fixed(x):
    """Use this when the hook only makes the gradient contiguous. Call
    `contiguous` without the question: it returns the gradient as it is if
    there is nothing to copy."""
    y = x.sin()
    y.register_hook(lambda grad: grad.contiguous())
    return y.cos()
