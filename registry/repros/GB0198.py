"""A dict is changed, and then a read-only view of a dict is read. Dynamo can't
tell whether the view shows that dict, so it can't know what the view says."""
import types

import torch


def inputs():
    settings = {"scale": 2.0}
    return torch.randn(8), settings, types.MappingProxyType(settings)


def broken(x, settings, view):
    settings["scale"] = 3.0
    return x * view["scale"]


def fixed(x, settings, view):
    """Use this when you have the dict behind the view. Read the new value from
    the dict itself."""
    settings["scale"] = 3.0
    return x * settings["scale"]


def fixed_view(x, settings, view):
    """Use this when you want a read-only view. Make it inside the compiled
    function."""
    settings["scale"] = 3.0
    own_view = types.MappingProxyType(settings)
    return x * own_view["scale"]
