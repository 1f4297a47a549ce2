"""`isinstance` is asked about a method of a NumPy array. Dynamo can call such
a method, but it doesn't know what type the method object itself has."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0157"
REQUIRES = {"module": "numpy", "device": "cpu"}
LIMITS = {"fixed": {"dtype": "torch has no mean of integers: it is an error."}}
COVERAGE = "The method is no string, and that is what the program asks."


def inputs():
    return (torch.randn(8),)


def broken(x):
    reduce = x.numpy().mean
    if isinstance(reduce, str):
        reduce = getattr(x.numpy(), reduce)
    return x - reduce()


def fixed(x):
    """Use this when you don't need NumPy. Use the tensor's method: Dynamo
    knows its type."""
    reduce = x.mean
    if isinstance(reduce, str):
        reduce = getattr(x, reduce)
    return x - reduce()


def fixed_function(x):
    """Use this when you need the array's method. Wrap it in a Python
    function."""

    def reduce():
        return x.numpy().mean()

    if isinstance(reduce, str):
        reduce = getattr(x.numpy(), reduce)
    return x - reduce()
