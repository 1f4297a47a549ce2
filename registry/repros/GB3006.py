"""The lists are created while Dynamo traces, so their `id`s aren't known yet.
Dynamo uses placeholders for them, and those can't be multiplied."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB4501"


def inputs():
    return (torch.randn(8),)


def broken(x):
    a, b = [x], [x]
    cache = {id(a) * 31 + id(b): x.sin()}
    return cache[id(a) * 31 + id(b)]


def fixed(x):
    """Use this when the sum only mixes two ids into one key. Use a tuple of
    the two: a tuple can be a key, too."""
    a, b = [x], [x]
    cache = {(id(a), id(b)): x.sin()}
    return cache[id(a), id(b)]
