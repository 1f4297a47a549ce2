"""The function frees memory in between, with `gc.collect`. That is C code, and
a graph has no place for it."""
import gc

import torch
from torch._dynamo.decorators import skip

TITLE = "gc.collect()"


def encode(x):
    return x.sin()


def decode(hidden):
    return hidden.cos()


def inputs():
    return (torch.randn(8),)


def broken(x):
    hidden = x.sin()
    gc.collect()
    return hidden.cos()


@skip
def fixed(x):
    """Use this when you can split the function where it frees memory. Call
    `gc.collect()` between two compiled functions, in a caller that you don't
    compile (`skip` stands for that)."""
    hidden = encode(x)
    gc.collect()
    return decode(hidden)
