"""The program compiles a function and then gives the compiled one to torch.fx.
FX cannot look into it."""

import torch


def double(x):
    return x * 2


def message():
    torch.fx.symbolic_trace(torch.compile(double, backend="eager"))


def fixed_order():
    """Use this when you need both: trace first, compile the result."""
    traced = torch.fx.symbolic_trace(double)
    return torch.compile(traced, backend="eager")(torch.ones(4))


def fixed_original():
    """Use this when another tool wants to trace the model: give it the model from before torch.compile."""
    return torch.fx.symbolic_trace(double)(torch.ones(4))


def eager():
    return double(torch.ones(4))
