"""`random.Random` gets its seed by keyword. Dynamo supports it with the seed as
the only positional argument, or with none."""
import random

import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    rng = random.Random(x=7)
    return x * rng.randint(1, 6)


def fixed(x):
    """Pass the seed by position."""
    rng = random.Random(7)
    return x * rng.randint(1, 6)
