"""`functools.wraps` runs in the compiled code, and changes the name of a
function that was defined outside. Dynamo can do this only for functions that
are defined in the compiled code."""
import functools

import torch

REQUIRES = {"release": "<2.12"}


def score(x):
    return x.softmax(0)


def doubled(x):
    return score(x) * 2


def inputs():
    return (torch.randn(8),)


def broken(x):
    named = functools.wraps(score)(doubled)
    return named(x), named.__name__


named_once = functools.wraps(score)(lambda x: score(x) * 2)


def fixed(x):
    """Use this when the wrapper is always the same. Make it once, outside."""
    return named_once(x), named_once.__name__
