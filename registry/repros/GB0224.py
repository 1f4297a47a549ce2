"""`torch.add` gets only numbers, and one of them is a symbolic size. By
default Dynamo traces that; here the feature that makes it possible is turned
off by its environment variable."""
import os

import torch

REACH = "config"
COMPILE = {"dynamic": True}

os.environ["TENSORIFY_PYTHON_SCALARS"] = "0"


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x / torch.add(x.shape[0], 1)


def fixed(x):
    """Use this when you calculate with sizes. Use Python's operators: a size
    is a number, not a tensor."""
    return x / (x.shape[0] + 1)
