"""The message of `torch._check` shows a tensor. Dynamo keeps the message as a
Python function, and that can hold constants, but no tensors of the graph."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    torch._check(x.dim() == 1, lambda: f"expected a vector, got {x}")
    return x.mean()


def fixed(x):
    """Use this when the message can do without the values of the tensor. Show
    what Dynamo knows as a constant, like the number of dimensions."""
    dim = x.dim()
    torch._check(dim == 1, lambda: f"expected a vector, got {dim} dimensions")
    return x.mean()
