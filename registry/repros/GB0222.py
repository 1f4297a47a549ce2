"""A set of tensors from outside is used in the compiled function. A set has
no order that Dynamo could rely on to tell its tensors apart."""
import torch

weight = torch.arange(4.0)
FROZEN = {weight}
FROZEN_DICT = dict.fromkeys(FROZEN)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return x * weight if weight in FROZEN else x


def fixed(x):
    """Use this when you look up tensors in a collection. Keep them as keys of
    a dict: a dict has an order."""
    return x * weight if weight in FROZEN_DICT else x
