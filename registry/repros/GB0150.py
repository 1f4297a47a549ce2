"""`hasattr` asks a built-in exception that was raised and caught inside the
compiled function. Dynamo can't say which attributes its stand-in has."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        raise ValueError("too short")
    except ValueError as error:
        return x.sin() if hasattr(error, "errno") else x.cos()


def fixed(x):
    """The attribute tells apart two kinds of error: ask for the class."""
    try:
        raise ValueError("too short")
    except ValueError as error:
        return x.sin() if isinstance(error, OSError) else x.cos()
