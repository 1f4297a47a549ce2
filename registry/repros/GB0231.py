"""A NumPy array becomes a tensor inside the compiled function, but the option
that lets Dynamo trace NumPy, `trace_numpy`, is turned off."""
import numpy
import torch

REACH = "config"
CONFIG = {"trace_numpy": False}
FLAGS = {"fixed_flag": {"trace_numpy": True}}
REQUIRES = {"module": "numpy", "device": "cpu"}

window = numpy.hanning(8)
window_tensor = torch.from_numpy(window)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * torch.from_numpy(window)


def fixed(x):
    """Use this when the array doesn't change. Make the tensor once, outside
    the compiled function."""
    return x * window_tensor


def fixed_flag(x):
    """Use this when the array must stay NumPy. Leave `trace_numpy` on, as it
    is by default. Other NumPy code is then traced as well."""
    return x * torch.from_numpy(window)
