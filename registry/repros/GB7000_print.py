"""A loop prints in every step. You meet this with progress messages and with
`print` calls that are left over from debugging."""
import torch
from torch._dynamo.decorators import skip

TITLE = "print in a loop"
FLAGS = {"fixed_flag": {"reorderable_logging_functions": {print}}}


def layer(x):
    return x.sin()


def inputs():
    return (torch.randn(4),)


def broken(x):
    for step in range(3):
        x = x.sin()
        print("step", step, x.sum())
    return x


@skip
def fixed_body(x):
    """Use this when every message must come at its time, or the cause must stay.
    Compile the body of the loop, and not the loop (`skip` stands for a loop that
    you don't compile). Each step then runs a graph."""
    for step in range(3):
        x = layer(x)
        print("step", step, x.sum())
    return x


def fixed_flag(x):
    """Use this when you want the messages, and they may come late. Put `print`
    into the setting `reorderable_logging_functions`: all messages are printed
    after the graph ran. What a function prints that the loop calls is lost
    (torch 2.11 and 2.13). If you don't need the messages, delete the
    `print`."""
    for step in range(3):
        x = x.sin()
        print("step", step, x.sum())
    return x
