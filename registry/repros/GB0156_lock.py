"""Threads share a model, and a lock guards a part of it. A lock does its work
when the program runs, so it can't be traced into a graph."""
import threading

import torch
from torch._dynamo.decorators import skip

TITLE = "A lock"
LOCK = threading.Lock()


def encode(x):
    return x.sin().cos()


def inputs():
    return (torch.randn(8),)


def broken(x):
    LOCK.acquire()
    x = x.sin().cos()
    LOCK.release()
    return x


@skip
def fixed(x):
    """Use this when the lock can guard the whole compiled function. Hold it in
    the caller. `skip` stands for a caller that you don't compile."""
    with LOCK:
        return encode(x)
