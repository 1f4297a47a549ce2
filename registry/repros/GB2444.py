"""A list comprehension makes functions that use its loop variable, and the
function around it has a `nonlocal` variable of the same name. From Python 3.12
on, both are variables of one function, and Dynamo can't tell them apart."""
import torch

REQUIRES = {"python": ">=3.12", "release": ">=2.14"}


def make_scaler():
    n = 0

    def scale(x):
        nonlocal n
        steps = [lambda x: x * n for n in (1, 2, 3)]
        n += 1
        return steps[n % 3](x)

    return scale


def make_scaler_renamed():
    n = 0

    def scale(x):
        nonlocal n
        steps = [lambda x: x * k for k in (1, 2, 3)]
        n += 1
        return steps[n % 3](x)

    return scale


def inputs():
    return (torch.randn(8),)


def broken(x):
    return make_scaler()(x).sin()


def fixed(x):
    """Use this when the two variables have nothing to do with each other. Give
    the loop variable another name."""
    return make_scaler_renamed()(x).sin()
