"""An exception is built with a keyword argument. Dynamo models Python's
own exceptions with positional arguments only."""
import torch


class MissingPackage(ImportError):
    def __init__(self, message, package):
        self.package = package


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        raise ImportError("no solver", name="scipy")
    except ImportError as error:
        return x + 1, error.name


def fixed(x):
    """Use this when the exception carries data. Give it a class of its own:
    its constructor is Python code, and Dynamo traces it."""
    try:
        raise MissingPackage("no solver", "scipy")
    except MissingPackage as error:
        return x + 1, error.package


def fixed_args(x):
    """Use this when you raise and catch the exception yourself. Pass the data
    by position, and read it from `args`."""
    try:
        raise ImportError("no solver", "scipy")
    except ImportError as error:
        return x + 1, error.args[1]
