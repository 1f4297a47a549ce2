"""A plain function carries an attribute `__self__`, so that it looks like a
method that is bound to an object. Dynamo takes methods apart before it traces
them, and doesn't expect to meet such a function."""
import types

import torch

REACH = "contrived"
NEIGHBOUR = "GB0177"


class Model:
    scale = 2.0


def scaled(x):
    return x * scaled.__self__.scale


scaled.__self__ = Model()


def scaled_by(model, x):
    return x * model.scale


method = types.MethodType(scaled_by, Model())


def inputs():
    return (torch.randn(8),)


def broken(x):
    return scaled(x).sin()


def fixed(x):
    """Use this when the object belongs to the function. Bind it, as Python
    does: `types.MethodType` makes a method."""
    return method(x).sin()
