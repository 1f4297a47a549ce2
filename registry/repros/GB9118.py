"""The address of a tensor's memory is used as a truth value: it is 0 if there
is no memory. Dynamo knows the address only when the graph runs."""
import torch

REQUIRES = {"release": ">=2.15"}


def inputs():
    return (torch.randn(int(torch.randint(3, ())), 4),)


def broken(x):
    return x.mean(0) if x.data_ptr() else x.sum(0)


def fixed(x):
    """Use this when you want to know whether the tensor is empty. Ask for the
    number of its elements."""
    return x.mean(0) if x.numel() else x.sum(0)
