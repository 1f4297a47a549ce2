"""The tensors to scan came in a list, and the combining function returns a
tuple. Dynamo wants the result in the same kind of container as the input."""
import torch

REACH = "private"
COMPILE = {"backend": "eager"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    scan = torch.ops.higher_order.associative_scan
    (y,) = scan(lambda a, b: (torch.maximum(a, b),), [x], ())
    return y


def fixed(x):
    """Use this when you pass a list. Let the function return a list, too. A
    single tensor needs no container: you can pass and return the tensor."""
    scan = torch.ops.higher_order.associative_scan
    (y,) = scan(lambda a, b: [torch.maximum(a, b)], [x], ())
    return y
