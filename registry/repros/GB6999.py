"""A function is wrapped in `torch.no_grad()` inside the compiled function, and
then its `__dict__` is read. The wrapped function exists only while Dynamo
traces, and Dynamo can't read the `__dict__` of such a function."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0467"


def scale(x):
    return x * 2


scale.shift = 1.0


def inputs():
    return (torch.randn(8),)


def broken(x):
    quiet = torch.no_grad()(scale)
    return quiet(x) + vars(quiet)["shift"]


def fixed(x):
    """Use this when you know the name of the attribute. Read the attribute
    directly."""
    quiet = torch.no_grad()(scale)
    return quiet(x) + quiet.shift


quiet_scale = torch.no_grad()(scale)


def fixed_outside(x):
    """Use this when the function is always the same. Wrap it once, outside."""
    return quiet_scale(x) + vars(quiet_scale)["shift"]
