"""`strict_mode` was given an argument by name, meant for the function that it
runs. It has no way to pass that on."""
import torch

REACH = "private"
COMPILE = {"backend": "eager"}
EAGER_RAISES = "TypeError"


def inputs():
    return (torch.randn(8),)


def broken(x):
    strict_mode = torch.ops.higher_order.strict_mode
    return strict_mode(lambda x, by: x * by, (x,), by=2)


def fixed(x):
    """Use this when the function needs more than one argument. Put all of them
    among the operands. Inductor can't compile `strict_mode`."""
    strict_mode = torch.ops.higher_order.strict_mode
    return strict_mode(lambda x, by: x * by, (x, 2))
