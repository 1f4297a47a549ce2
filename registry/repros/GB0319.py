"""The tensors to scan came in a list, and the combining function returns a
tuple. Dynamo wants the result in the same kind of container as the input."""
import torch
from torch._higher_order_ops import associative_scan

REACH = "private"


def inputs():
    return (torch.randn(8),)


def broken(x):
    scan = torch.ops.higher_order.associative_scan
    (y,) = scan(lambda a, b: (torch.maximum(a, b),), [x], ())
    return y


def fixed(x):
    """Use this when you scan a single tensor. Pass and return it without a
    container. If you scan several tensors, let the function return the same
    kind of container that you pass in."""
    return associative_scan(torch.maximum, x, 0, combine_mode="generic")
