"""A NumPy function is called while `torch._dynamo.config.trace_numpy` is off.
With the flag on, its default, Dynamo would translate the call."""
import math

import numpy as np
import torch

REACH = "config"
CONFIG = {"trace_numpy": False}
REQUIRES = {"module": "numpy"}
FLAGS = {"fixed_flag": {"trace_numpy": True}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * np.sqrt(2.0)


def fixed(x):
    """Use this when `trace_numpy` must stay off. Use `math` for numbers and
    `torch` for tensors."""
    return x * math.sqrt(2.0)


def fixed_flag(x):
    """Use this when the code must stay NumPy. Turn `trace_numpy` on again.
    NumPy calls then become tensor operations, whose rounding and types may
    differ a little from NumPy's."""
    return x * np.sqrt(2.0)
