"""A setting is kept in a `ContextVar`, as servers and libraries do. Its
methods `get` and `set` are written in C."""
import contextvars

import torch
from torch._dynamo.decorators import skip

TITLE = "ContextVar.get()"
SCALE = contextvars.ContextVar("SCALE", default=1.0)


def rescale(x, scale):
    return x.tanh() * scale


def inputs():
    SCALE.set(float(torch.rand(())))
    return (torch.randn(8),)


def broken(x):
    return x.tanh() * SCALE.get()


@skip
def fixed(x):
    """Use this when the caller can read the setting. Pass its value to the
    compiled function. `skip` stands for a caller that you don't compile."""
    return rescale(x, SCALE.get())
