"""`torch.nn.Parameter()` without data makes an empty parameter, to be filled
later. Dynamo only makes parameters from a tensor."""
import torch

REQUIRES = {"device": "cpu"}
FLAGS = {"fixed_flag": {"graph_break_on_nn_param_ctor": False}}

empty = torch.empty(0)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x.sin(), torch.nn.Parameter()


def fixed(x):
    """Use this when the parameters of all calls may share memory. Pass a
    tensor that exists outside: the parameter shares its memory."""
    return x.sin(), torch.nn.Parameter(empty)


def fixed_flag(x):
    """Use this when each call needs memory of its own. Make the empty tensor
    inside, and turn `graph_break_on_nn_param_ctor` off. The flag is on because
    PyTorch doesn't promise what such a parameter means in a graph."""
    return x.sin(), torch.nn.Parameter(torch.empty(0))
