"""The function keeps a library quiet with `warnings.catch_warnings` or
`warnings.filterwarnings`. Both change the filters of Python's warnings, and end
in C code."""
import warnings

import torch
from torch._dynamo.decorators import skip

TITLE = "warnings.catch_warnings()"


def score(x):
    return x.exp().softmax(0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return x.exp().softmax(0)


@skip
def fixed(x):
    """Use this when the warnings may also stay away while the code is compiled.
    Set the filters in the caller, around the compiled function. `skip` stands
    for a caller that you don't compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return score(x)
