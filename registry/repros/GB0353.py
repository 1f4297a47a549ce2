"""`torch._dynamo.export` traces a function that was given no value for a
parameter whose default is a tensor. The default becomes an input of the graph
that the caller didn't pass. (`comptime` runs this while Dynamo compiles.)"""
import torch
from torch._dynamo.comptime import comptime

REACH = "private"
# Else Dynamo leaves an export alone that starts while it compiles.
CONFIG = {"force_compile_during_fx_trace": True}
EXAMPLE, ONES = torch.zeros(8), torch.ones(8)


def shifted(x, by=ONES):
    return x + by


def inputs():
    return (torch.randn(8),)


def broken(x):
    comptime(lambda context: torch._dynamo.export(shifted)(EXAMPLE))
    return shifted(x)


def fixed(x):
    """Use this when you export a function that has default values. Pass a
    value for every parameter."""
    comptime(lambda context: torch._dynamo.export(shifted)(EXAMPLE, ONES))
    return shifted(x)
