"""The call goes to one of Python's built-in functions, with arguments for
which Dynamo has no rule: `print`, `open`, `sorted` of a tensor and others. The
message names the function and the types of its arguments."""
import torch

TITLE = "print()"
FLAGS = {"fixed_flag": {"reorderable_logging_functions": {print}}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    print("sine", x.detach())
    return x.cos()


def fixed(x):
    """Use this when the output must appear at this point of the run. torch
    2.13 has a `print` that is part of the graph, still in a private module. It
    takes a format string."""
    x = x.sin()
    torch._higher_order_ops.print("sine {}", x.detach())
    return x.cos()


def fixed_flag(x):
    """Use this when the output may come later. With the flag
    `reorderable_logging_functions`, Dynamo calls `print` after the graph has
    run. Add any other function for logs to the flag, too. Call it in the
    compiled function itself: in a function that this calls, the line is lost
    (torch 2.11 and 2.13)."""
    x = x.sin()
    print("sine", x.detach())
    return x.cos()
