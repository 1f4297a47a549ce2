"""The list is created while Dynamo traces, so its `id` isn't known yet.
Dynamo uses a placeholder for it that can be compared, but not negated."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB4501"


def inputs():
    return (torch.randn(8),)


def broken(x):
    layers = [x]
    cache = {id(layers): x.sin(), -id(layers): x.cos()}
    return cache[id(layers)] + cache[-id(layers)]


def fixed(x):
    """Use this when the sign only keeps two kinds of key apart. Use a tuple as
    the key."""
    layers = [x]
    cache = {(id(layers), "a"): x.sin(), (id(layers), "b"): x.cos()}
    return cache[id(layers), "a"] + cache[id(layers), "b"]
