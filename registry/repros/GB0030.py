"""The program asks for this break: `comptime` code runs while Dynamo traces,
and its `graph_break()` ends the graph at that point."""
import torch
from torch._dynamo.comptime import comptime

REACH = "private"
EFFECTS = {"fixed_print": "It prints the graph, each time that it is compiled."}


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    comptime(lambda context: context.graph_break("look here"))
    return x.cos()


def fixed(x):
    """Use this when you are done debugging. Remove the call."""
    x = x.sin()
    return x.cos()


def fixed_print(x):
    """Use this when you want to see the graph so far. `comptime` can print it
    while Dynamo traces, and the graph goes on."""
    x = x.sin()
    comptime(lambda context: context.print_graph())
    return x.cos()
