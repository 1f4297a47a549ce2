"""`ContextVar.get()` is called with a tensor as the default value. Dynamo asks
for the value while it traces, so the default must be a constant."""
import contextvars

import torch

REQUIRES = {"release": ">=2.14"}
SCALE = contextvars.ContextVar("SCALE")


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x / SCALE.get(x.norm())


def fixed(x):
    """Use this when the default is computed. Ask with None as the default, and
    compute the value only if you get None."""
    scale = SCALE.get(None)
    return x / (x.norm() if scale is None else scale)
