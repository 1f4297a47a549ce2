"""`hasattr` is called on an object for which Dynamo has a stand-in, and the
stand-in can't say which attributes the object has. Exceptions, `super()`,
iterators and types are such objects."""
import torch

TITLE = "hasattr on an exception"


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        raise ValueError("too short")
    except ValueError as error:
        return x.sin() if hasattr(error, "errno") else x.cos()


def fixed(x):
    """Use this when the attribute only tells two kinds of error apart. Check
    the class with `isinstance`."""
    try:
        raise ValueError("too short")
    except ValueError as error:
        return x.sin() if isinstance(error, OSError) else x.cos()
