"""Two methods bound to tensors are compared. For Dynamo such a method is a
name on a tensor, not an object that it could compare."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB6622"


def inputs():
    return (torch.randn(8),)


def broken(x):
    op = x.sin if x.dim() == 1 else x.cos
    y = op()
    return y + 1 if op == x.sin else y


def fixed(x):
    """Use this when you choose an operation and compare it later. Choose among
    functions of `torch`, and call them with the tensor. Dynamo can compare
    those."""
    op = torch.sin if x.dim() == 1 else torch.cos
    y = op(x)
    return y + 1 if op == torch.sin else y
