"""The code asks whether a tensor that it computed shares its memory until
somebody writes to it ("copy on write"). Dynamo can only guard on that for
tensors that come from outside."""
import torch

REACH = "private"
REQUIRES = {"release": ">=2.14"}


def inputs():
    return (torch.randn(4, 4),)


def broken(x):
    row = x[0]
    return row.sin(), torch._C._is_cow_tensor(row)


def fixed(x):
    """Use this when the tensor is a view. Ask about the tensor that it is a
    view of: both have the same memory."""
    row = x[0]
    return row.sin(), torch._C._is_cow_tensor(x)
