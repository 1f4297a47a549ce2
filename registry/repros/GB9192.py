"""`itertools.zip_longest` gets a keyword that it doesn't have. The only one is
`fillvalue`. Python raises TypeError, too."""
import itertools

import torch

EAGER_RAISES = "TypeError"
REQUIRES = {"release": ">=2.14"}


def inputs():
    return torch.randn(3), torch.randn(2)


def broken(x, y):
    pairs = itertools.zip_longest(x, y, default=0)
    return torch.stack([a + b for a, b in pairs])


def fixed(x, y):
    """Use this when the shorter one needs a value at its end. The keyword is
    `fillvalue`."""
    pairs = itertools.zip_longest(x, y, fillvalue=0)
    return torch.stack([a + b for a, b in pairs])
