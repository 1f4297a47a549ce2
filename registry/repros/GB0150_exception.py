"""`hasattr` asks an exception which kind of error it is. Dynamo has a stand-in
for the exception, and the stand-in can't say which attributes it has."""
import torch

TITLE = "hasattr on an exception"
REQUIRES = {"release": "<2.14"}


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
