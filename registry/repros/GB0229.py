"""A parameter is made from another parameter that was itself made inside the
compiled function. Dynamo makes the outer one before the graph runs, and then
the inner one isn't there yet."""
import torch

REACH = "config"
CONFIG = {"graph_break_on_nn_param_ctor": False}


def inputs():
    return (torch.randn(8),)


def broken(x):
    weight = torch.nn.Parameter(x / 2)
    return torch.nn.Parameter(weight).sin()


def fixed(x):
    """Use this when the tensor is a parameter already. Don't wrap it again."""
    weight = torch.nn.Parameter(x / 2)
    return weight.sin()
