"""`nn.Parameter` is made from a tensor that was computed inside the compiled
function. Dynamo breaks there by default, because parameters are meant to be
made once and used often."""
import torch

FLAGS = {"fixed_flag": {"graph_break_on_nn_param_ctor": False}}

WEIGHT = torch.nn.Parameter(torch.full((4,), 0.1))


def inputs():
    return (torch.randn(4),)


def broken(x):
    weight = torch.nn.Parameter(torch.full((4,), 0.1, device=x.device))
    return x * weight


def fixed(x):
    """Use this when all calls can use the same parameter. Make it once,
    outside, as a module does in `__init__`."""
    return x * WEIGHT


def fixed_flag(x):
    """Use this when every call needs a new parameter. Turn off
    `graph_break_on_nn_param_ctor`. The shape must then be fixed, and torch's
    source calls this deprecated."""
    weight = torch.nn.Parameter(torch.full((4,), 0.1, device=x.device))
    return x * weight
