"""The call doesn't fit the function's parameters. Python would raise a
`TypeError`; Dynamo gives up, even though an `except` would catch that
error."""
import inspect

import torch


def normalise(x):
    return x / x.norm()


TAKES_EPS = "eps" in inspect.signature(normalise).parameters


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        return normalise(x, eps=1e-3)
    except TypeError:
        return normalise(x)


def fixed(x):
    """Use this when the function may or may not have the parameter. Look once,
    outside the compiled function, and branch on the answer."""
    return normalise(x, eps=1e-3) if TAKES_EPS else normalise(x)
