"""The program stores a value as an attribute of an exception. Dynamo
follows `raise` and `except`, but it doesn't track attributes you add to the
exception."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        error = ValueError("too long")
        error.limit = 4
        raise error
    except ValueError as caught:
        return x[: caught.limit] * 2


def fixed(x):
    """Use this when you raise the exception yourself. Pass the value to its
    constructor, and read it from `args`."""
    try:
        raise ValueError("too long", 4)
    except ValueError as caught:
        return x[: caught.args[1]] * 2
