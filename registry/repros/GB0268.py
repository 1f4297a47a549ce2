"""`itertools.product` gets a keyword argument that it doesn't have. The
program is wrong in plain Python too: the only keyword is `repeat`."""
import itertools

import torch

EAGER_RAISES = "TypeError"


def inputs():
    return (torch.randn(3),)


def broken(x):
    pairs = itertools.product(x, repeats=2)
    return torch.stack([a * b for a, b in pairs])


def fixed(x):
    """Use this when you want to combine an iterable with itself. Spell the
    keyword `repeat`, as `itertools.product` has it."""
    pairs = itertools.product(x, repeat=2)
    return torch.stack([a * b for a, b in pairs])
