"""The function tries a name that exists only in IPython and notebooks. Where
it is missing Dynamo gives up at once, even though `except NameError` would
catch the error."""
import builtins

import torch

COVERAGE = "the second line of the `try` runs only in IPython"
NOTEBOOK = hasattr(builtins, "get_ipython")


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        get_ipython
        return x.sin().round(decimals=2)
    except NameError:
        return x.sin()


def fixed(x):
    """Use this when your code runs both in a notebook and outside. Look for
    the name once, outside the compiled function, and branch on the answer."""
    if NOTEBOOK:
        return x.sin().round(decimals=2)
    return x.sin()
