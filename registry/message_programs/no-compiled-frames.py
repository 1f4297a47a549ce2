"""A TorchDispatchMode of the user is active, so torch.compile skips the function
and runs it eagerly. With fullgraph=True that is an error."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Count(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def double(x):
    return x * 2


def message():
    with Count():
        torch.compile(double, backend="eager", fullgraph=True)(torch.ones(4))


def fixed_outside():
    """Use this when you do not need the mode during this call: leave it first."""
    return torch.compile(double, backend="eager", fullgraph=True)(torch.ones(4))


def fixed_allow():
    """Use this when the function may run uncompiled: leave `fullgraph=True` out."""
    with Count():
        return torch.compile(double, backend="eager")(torch.ones(4))


def eager():
    return double(torch.ones(4))
