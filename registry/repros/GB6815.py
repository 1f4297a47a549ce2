"""The compiled function sets a `ContextVar`, so that the code it calls sees
another value. Dynamo reads such variables, but it can't set or reset them."""
import contextvars

import torch
from torch._dynamo.decorators import skip

REQUIRES = {"release": ">=2.14"}
SCALE = contextvars.ContextVar("SCALE", default=1.0)


def layer(x):
    return x.tanh() * SCALE.get()


def scaled_layer(x, scale):
    return x.tanh() * scale


def inputs():
    return (torch.randn(8),)


def broken(x):
    token = SCALE.set(2.0)
    y = layer(x)
    SCALE.reset(token)
    return y


@skip
def fixed(x):
    """Use this when the caller can set the variable. The compiled function
    then only reads it. `skip` stands for a caller that you don't compile."""
    token = SCALE.set(2.0)
    y = layer(x)
    SCALE.reset(token)
    return y


def fixed_argument(x):
    """Use this when you can change the code that reads the variable. Pass the
    value as an argument."""
    return scaled_layer(x, 2.0)
