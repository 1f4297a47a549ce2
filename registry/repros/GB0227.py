"""A parameter is made from a computed tensor of a subclass. Even with the
option that lets Dynamo create parameters, it does so only for plain
tensors."""
import torch

REACH = "config"
CONFIG = {"graph_break_on_nn_param_ctor": False}


class Weight(torch.Tensor):
    pass


table = torch.arange(8.0).as_subclass(Weight)
parameter = torch.nn.Parameter(table / 8)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * torch.nn.Parameter(table / 8)


def fixed(x):
    """Use this when all calls can use the same parameter. Create it once,
    outside. An optimizer can find it there, too."""
    return x * parameter
