"""The keys of a dict are methods bound to a tensor. Dynamo would need their
hash. It hashes what it knows as a constant, and a tensor is none."""
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
    """Use functions of `torch` as keys, and call them with the tensor."""
    weights = {torch.sin: 2, torch.cos: 3}
    y = torch.zeros_like(x)
    for op, weight in weights.items():
        y = y + weight * op(x)
    return y


def fixed_pairs(x):
    """Nothing is looked up by key: a list of pairs needs no hash."""
    weights = [(x.sin, 2), (x.cos, 3)]
    y = torch.zeros_like(x)
    for op, weight in weights:
        y = y + weight * op()
    return y
