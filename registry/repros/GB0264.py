"""`nn.Parameter` is made from a tensor that was computed inside the compiled
function. Dynamo breaks there by default, for parameters are meant to be made
once and used often."""
import torch

FLAGS = {"fixed_flag": {"graph_break_on_nn_param_ctor": False}}

WEIGHT = torch.nn.Parameter(torch.full((4,), 0.1))


def inputs():
    return (torch.randn(4),)


def broken(x):
    weight = torch.nn.Parameter(torch.full_like(x, 0.1))
    return x * weight


def fixed(x):
    """Make the parameter once, outside, as a module does in `__init__`."""
    return x * WEIGHT


def fixed_flag(x):
    """Every call needs a new one: turn off `graph_break_on_nn_param_ctor`.
    The shape must be fixed then, and torch's source calls this deprecated."""
    weight = torch.nn.Parameter(torch.full_like(x, 0.1))
    return x * weight
