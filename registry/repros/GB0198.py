"""A dict is changed, and then a read-only view of a dict is read. Dynamo can't
tell whether the view shows that dict, so it can't know what the view says."""
import types

import torch

SETTINGS = {"scale": 2.0}
VIEW = types.MappingProxyType(SETTINGS)


def inputs():
    return (torch.randn(8),)


def broken(x):
    SETTINGS["scale"] = 3.0
    return x * VIEW["scale"]


def fixed(x):
    """Use this when you have the dict behind the view. Read the new value from
    the dict itself."""
    SETTINGS["scale"] = 3.0
    return x * SETTINGS["scale"]


def fixed_view(x):
    """Use this when you want a read-only view. Make it inside the compiled
    function."""
    SETTINGS["scale"] = 3.0
    view = types.MappingProxyType(SETTINGS)
    return x * view["scale"]
