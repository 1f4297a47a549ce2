"""The call goes to one of Python's built-in functions, with arguments for which
Dynamo has no rule: `print`, `open`, `sorted` of a tensor and others. The
message names the function and the types of its arguments."""
import torch

TITLE = "print()"
FLAGS = {"fixed_flag": {"reorderable_logging_functions": {print}}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    x = x.sin()
    print("mean", x.mean())
    return x.cos()


def fixed(x):
    """The output must come at its time: torch 2.13 has a `print` that is part
    of the graph, still in a private module. It takes a format string."""
    x = x.sin()
    torch._higher_order_ops.print("mean {}", x.mean())
    return x.cos()


def fixed_flag(x):
    """The output may come later: with this flag, Dynamo calls `print` after the
    graph has run. Put any other function for logs in there, too."""
    x = x.sin()
    print("mean", x.mean())
    return x.cos()
