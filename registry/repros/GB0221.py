"""A function decorated with `contextmanager` returns a generator that another
function made, instead of using `yield` itself. That works in Python, but
Dynamo wants a `yield` in the decorated function."""
import contextlib

import torch


def scale(x):
    yield x * 2


@contextlib.contextmanager
def scaled(x):
    return scale(x)


@contextlib.contextmanager
def scaled_from(x):
    yield from scale(x)


def inputs():
    return (torch.randn(8),)


def broken(x):
    with scaled(x) as y:
        return y + 1


def fixed(x):
    """Use this when the generator comes from another function. Pass it on with
    `yield from`."""
    with scaled_from(x) as y:
        return y + 1
