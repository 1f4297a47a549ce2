"""`==` compares two NumPy functions. Dynamo has a special stand-in for those,
and it has no rule for comparisons."""
import numpy as np
import torch

REACH = "contrived"
NEIGHBOUR = "GB0294"
ACTIVATION = np.tanh


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.tanh() if ACTIVATION == np.tanh else x


def fixed(x):
    """Use this when you ask whether two names mean the same function.
    Functions are equal only if they are the same object, so ask with `is`."""
    return x.tanh() if ACTIVATION is np.tanh else x
