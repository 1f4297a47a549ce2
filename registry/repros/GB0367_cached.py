"""A dict has functions as keys, and one of them is decorated with
`functools.lru_cache`. You meet this in tables that map a function to its
settings."""
import functools

import torch

TITLE = "A cached function as a key"


@functools.lru_cache
def slope(kind):
    return 0.1 if kind == "leaky" else 0.0


GAIN = {slope: 2.0}
GAIN_BY_NAME = {"slope": 2.0}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * GAIN[slope]


def fixed(x):
    """Use this when each function in the table has a name of its own. Use that
    name as the key: Dynamo knows how to compare strings."""
    return x * GAIN_BY_NAME["slope"]
