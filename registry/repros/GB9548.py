"""The list is created while Dynamo traces, so its `id` isn't known yet.
Dynamo uses a placeholder for it, and `abs` has no rule for that."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB4501"


def inputs():
    return (torch.randn(8),)


def broken(x):
    layers = [x]
    cache = {abs(id(layers)): x.sin()}
    return cache[abs(id(layers))]


def fixed(x):
    """Use this when you run CPython. An `id` is never negative there, so leave
    out `abs`."""
    layers = [x]
    cache = {id(layers): x.sin()}
    return cache[id(layers)]
