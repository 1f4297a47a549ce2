"""The program asks for it: `comptime` code runs while Dynamo traces, and
its `graph_break()` ends the graph at that point."""
import torch
from torch._dynamo.comptime import comptime

REACH = "private"


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    comptime(lambda context: context.graph_break("look here"))
    return x.cos()


def fixed(x):
    """You are done debugging: remove the call."""
    x = x.sin()
    return x.cos()


def fixed_print(x):
    """You wanted to see the graph so far: `comptime` prints it while Dynamo
    traces, and the graph goes on."""
    x = x.sin()
    comptime(lambda context: context.print_graph())
    return x.cos()
