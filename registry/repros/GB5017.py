"""The `__init__` of an exception calls `ValueError.__init__` by name. That
method is written in C, and Dynamo has no rule for calling it this way."""
import torch

REQUIRES = {"release": ">=2.14"}


class TooShort(ValueError):
    def __init__(self, size):
        ValueError.__init__(self, "too short")
        self.size = size


class FixedTooShort(ValueError):
    def __init__(self, size):
        super().__init__("too short")
        self.size = size


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        raise TooShort(len(x))
    except ValueError as error:
        return x / error.size


def fixed(x):
    """Use this when you can change the class. Call `super().__init__`, which
    Dynamo knows."""
    try:
        raise FixedTooShort(len(x))
    except ValueError as error:
        return x / error.size
