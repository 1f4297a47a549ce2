"""Dynamo compiles a function anew when it is called with other types, shapes
or Python values, and stops when there are too many versions. The limit is 8; it
is set to 0 here, so that the first call already exceeds it."""
import torch

REACH = "config"
CONFIG = {"recompile_limit": 0}
FLAGS = {"fixed_flag": {"recompile_limit": 8}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.sin()


def fixed_flag(x):
    """So many versions are wanted: raise `recompile_limit`. Each costs a
    compilation, and they are tried in turn at each call."""
    return x.sin()
