"""The program compares addresses in memory to see whether two tensors share
data. While Dynamo traces there is no memory, hence no address."""
import torch


def inputs():
    return (torch.randn(4, 4),)


def broken(x):
    y = x.contiguous()
    if y.data_ptr() == x.data_ptr():
        y = y.clone()
    return y.mul_(2)


def fixed(x):
    """Use this when you want a copy in any case. Call `clone`, and skip the
    comparison."""
    y = x.clone(memory_format=torch.contiguous_format)
    return y.mul_(2)


def fixed_ask(x):
    """Use this when you know in which case the data is shared. Ask for that
    case. `contiguous` copies unless the tensor is contiguous already."""
    y = x.contiguous()
    if x.is_contiguous():
        y = y.clone()
    return y.mul_(2)
