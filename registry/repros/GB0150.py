"""`hasattr` is called on an object for which Dynamo has a stand-in, and the
stand-in can't say which attributes the object has. Methods of tensors,
`super()` and iterators are such objects."""
import torch

TITLE = "hasattr on a tensor's method"


def call(function, *args):
    if hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function(*args)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return call(x.sin)


def fixed(x):
    """Use this when torch has a function that does the same. Pass that
    function: Dynamo knows which attributes it has."""
    return call(torch.sin, x)
