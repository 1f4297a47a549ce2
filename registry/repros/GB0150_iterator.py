"""A helper asks whether its argument has a length, and gets a `zip` or a
`map`. You meet this in helpers that accept any iterable."""
import torch

TITLE = "hasattr on zip or map"


def inputs():
    return torch.randn(3), torch.randn(3)


def mean_of(values):
    if not hasattr(values, "__len__"):
        values = list(values)
    return sum(values) / len(values)


def average(values):
    if not isinstance(values, (list, tuple)):
        values = list(values)
    return sum(values) / len(values)


def broken(x, y):
    return mean_of(map(torch.mul, x, y))


def fixed(x, y):
    """Use this when you can change the helper. Check with `isinstance` for the
    classes that it accepts."""
    return average(map(torch.mul, x, y))


def fixed_list(x, y):
    """Use this when you can't change the helper. Pass it a list."""
    return mean_of(list(map(torch.mul, x, y)))
