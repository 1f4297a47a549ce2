"""`random.Random` gets its seed by keyword. Dynamo supports it only with the
seed as the one positional argument, or with no argument."""
import random

import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    rng = random.Random(x=7)
    return x * rng.randint(1, 6)


def fixed(x):
    """Use this when you want a generator with a seed. Pass the seed by
    position."""
    rng = random.Random(7)
    return x * rng.randint(1, 6)
