"""The program stores a value as an attribute of an exception. Dynamo follows `raise` and `except`, but it doesn't track attributes you add to the exception."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        error = ValueError("too long")
        error.limit = 4
        raise error
    except ValueError as error:
        return x[: error.limit] * 2


def fixed(x):
    """Pass the value to the constructor and read it from `args`."""
    try:
        raise ValueError("too long", 4)
    except ValueError as error:
        return x[: error.args[1]] * 2
