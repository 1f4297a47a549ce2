"""The compiled function asks for the time, for a log or a measurement. Clocks
are C functions, and a graph that is run again has no clock."""
import time

import torch
from torch._dynamo.decorators import skip

TITLE = "time.time()"


def score(x):
    return x.exp().softmax(0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.exp()
    return {"at": time.time(), "scores": x.softmax(0)}


@skip
def fixed(x):
    """Use this when you need the time only for a log or a measurement. Ask the
    clock in the caller, and compile only what computes. `skip` stands for a
    caller that you don't compile. To measure, also wait for the device there
    (`torch.cuda.synchronize()`)."""
    scores = score(x)
    return {"at": time.time(), "scores": scores}
