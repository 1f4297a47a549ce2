"""The compiled function reads a clock. A graph runs its operations later and
in its own order, so Dynamo ends the graph there: the clock is then read at the
right moment."""
import time

import torch
from torch._dynamo.decorators import skip

REQUIRES = {"release": ">=2.15"}


def score(x):
    return x.exp().softmax(0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    start = time.perf_counter()
    y = x.exp().softmax(0)
    return y, time.perf_counter() >= start


@skip
def fixed(x):
    """Use this when you measure or log the whole function. Read the clock in
    the caller, and compile only what computes. `skip` stands for a caller
    that you don't compile."""
    start = time.perf_counter()
    y = score(x)
    return y, time.perf_counter() >= start
