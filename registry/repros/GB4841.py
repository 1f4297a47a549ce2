"""A method of a NumPy array is used as a condition. To find out whether it
counts as true Dynamo needs its type, and it doesn't know the type of those."""
import torch

REQUIRES = {"module": "numpy", "device": "cpu"}
COVERAGE = "A method always counts as true."


def inputs():
    return (torch.randn(8),)


def broken(x):
    reduce = x.numpy().mean
    if not reduce:
        return x
    return x - reduce()


def fixed(x):
    """You ask whether there is a function at all: compare with `None`."""
    reduce = x.numpy().mean
    if reduce is None:
        return x
    return x - reduce()


def fixed_tensor(x):
    """You needn't use NumPy: of a tensor's method Dynamo knows the type."""
    reduce = x.mean
    if not reduce:
        return x
    return x - reduce()
