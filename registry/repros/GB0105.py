"""`x.numpy()` is called while the setting `trace_numpy` is off. Dynamo then
leaves everything that is done with NumPy to Python."""
import torch

REACH = "config"
CONFIG = {"trace_numpy": False}
REQUIRES = {"module": "numpy", "device": "cpu"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x / x.numpy().max()


def fixed(x):
    """Use this when torch has the same function. Leave NumPy out."""
    return x / x.max()


def fixed_flag(x):
    """Use this when you want to keep the NumPy code. Turn `trace_numpy` on
    again, which is the default. The graph then has torch operations in place
    of NumPy's."""
    return x / x.numpy().max()


FLAGS = {"fixed_flag": {"trace_numpy": True}}
