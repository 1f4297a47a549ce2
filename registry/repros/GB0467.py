"""A function keeps a value in an attribute of its own. Dynamo tracks such
assignments for ordinary objects, but not for plain functions."""
import torch


def inputs():
    return (torch.randn(8),)


def scale(x):
    scale.last = x.shape
    return x * 2


def broken(x):
    return scale(x).sin()


class Scale:
    def __call__(self, x):
        self.last = x.shape
        return x * 2


scale_object = Scale()


def fixed(x):
    """The value belongs to the function: make it an object with `__call__`."""
    return scale_object(x).sin()
