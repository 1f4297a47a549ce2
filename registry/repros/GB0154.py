"""`itertools.accumulate` got a keyword that it doesn't have. It fails in eager
mode, too."""
import itertools

import torch

EAGER_RAISES = "TypeError"
REQUIRES = {"release": "<2.9"}


def inputs():
    return torch.randn(3, 8), torch.randn(8)


def broken(rows, first):
    return list(itertools.accumulate(list(rows), start=first))


def fixed(rows, first):
    """Use this when the sum starts with a value of yours. The keyword for it
    is `initial`."""
    return list(itertools.accumulate(list(rows), initial=first))
