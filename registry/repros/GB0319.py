"""The tensors to scan came in a list, and the combining function returns a
tuple. Dynamo wants the result built like the input."""
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
    """One tensor in, one tensor out: no container needed. With several, return
    the same container from the function that you pass in."""
    return associative_scan(torch.maximum, x, 0, combine_mode="generic")
