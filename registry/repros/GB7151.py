"""A compiled function loops over a generator that was made outside of it, by a
library that Dynamo doesn't trace (here tqdm). Dynamo would have to trace the
code of that library."""
import torch
from torch._dynamo.decorators import skip
from tqdm.contrib.itertools import product

REQUIRES = {"release": ">=2.14", "module": "tqdm"}
SCALES = [0.5, 2.0]
SHIFTS = [1.0, -1.0]


def inputs():
    return (torch.randn(8),)


def search(x, pairs):
    return [scale * x + shift for scale, shift in pairs]


@skip
def broken(x):
    pairs = product(SCALES, SHIFTS, disable=True)
    return search(x, pairs)


PAIRS = list(product(SCALES, SHIFTS, disable=True))


def fixed(x):
    """Use this when the generator gives few values. Make a list of them before
    you call the compiled function."""
    return search(x, PAIRS)
