"""The keys of a dict are methods bound to a tensor. Dynamo needs the hash of
each key, but it can hash only constants, and a tensor is not one."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0367"


def inputs():
    return (torch.randn(8),)


def broken(x):
    weights = {x.sin: 2, x.cos: 3}
    y = torch.zeros_like(x)
    for op, weight in weights.items():
        y = y + weight * op()
    return y


def fixed(x):
    """Use this when you need a dict with operations as keys. Use functions of
    `torch` as keys, and call them with the tensor."""
    weights = {torch.sin: 2, torch.cos: 3}
    y = torch.zeros_like(x)
    for op, weight in weights.items():
        y = y + weight * op(x)
    return y


def fixed_pairs(x):
    """Use this when you don't look anything up by key. Use a list of pairs,
    which needs no hash."""
    weights = [(x.sin, 2), (x.cos, 3)]
    y = torch.zeros_like(x)
    for op, weight in weights:
        y = y + weight * op()
    return y
