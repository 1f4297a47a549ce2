"""`grad_fn` is a node of the graph that autograd builds while the program
runs. While Dynamo traces, that node does not exist."""
import torch


def inputs():
    return torch.randn(8), torch.randn(8, requires_grad=True)


def broken(x, weight):
    y = x * weight
    if y.grad_fn is not None:
        y = y.detach()
    return y.cos()


def fixed(x, weight):
    """Use this when you want to know whether autograd tracks the tensor.
    `requires_grad` tells you."""
    y = x * weight
    if y.requires_grad:
        y = y.detach()
    return y.cos()


def fixed_leaf(x, weight):
    """Use this when parameters must not count. `is_leaf` is false only for a
    result that autograd tracks."""
    y = x * weight
    if not y.is_leaf:
        y = y.detach()
    return y.cos()
