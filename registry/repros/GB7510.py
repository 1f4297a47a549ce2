"""The list is created while Dynamo traces, so its `id` isn't known yet.
Dynamo uses a placeholder for it, and has no rule for a unary `+` on it."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB4501"


def inputs():
    return (torch.randn(8),)


def broken(x):
    layers = [x]
    cache = {+id(layers): x.sin()}
    return cache[+id(layers)]


def fixed(x):
    """Use this when the `+` is in front of an integer, such as an `id`. It
    changes nothing there, so leave it out."""
    layers = [x]
    cache = {id(layers): x.sin()}
    return cache[id(layers)]
