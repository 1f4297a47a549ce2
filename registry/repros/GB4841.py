"""A method of a NumPy array is used as a condition. To find out whether it
counts as true Dynamo needs its type, and it doesn't know the type of those."""
import torch

REQUIRES = {"module": "numpy", "device": "cpu"}
LIMITS = {"fixed_tensor": {"dtype": "torch has no mean of integers: it is an error."}}
COVERAGE = "A method always counts as true."


def inputs():
    return (torch.randn(8),)


def broken(x):
    reduce = x.numpy().mean
    if not reduce:
        return x
    return x - reduce()


def fixed(x):
    """Use this when you ask whether there is a function at all. Compare with
    `None`."""
    reduce = x.numpy().mean
    if reduce is None:
        return x
    return x - reduce()


def fixed_tensor(x):
    """Use this when you don't need NumPy. Use the method of the tensor: Dynamo
    knows its type."""
    reduce = x.mean
    if not reduce:
        return x
    return x - reduce()
