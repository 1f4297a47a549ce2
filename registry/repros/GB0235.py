"""A parameter is made from a computed tensor while shapes are dynamic. Dynamo
has to prepare the parameter before the graph runs, and for that it needs the
shape as constant numbers."""
import torch

REACH = "config"
CONFIG = {
    "graph_break_on_nn_param_ctor": False,
    "assume_static_by_default": False,
}
FLAGS = {"fixed_flag": {"assume_static_by_default": True}}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return torch.nn.Parameter(x / 2, requires_grad=False).sin()


def fixed(x):
    """Use this when the parameter isn't trained and is gone after the call.
    Use a plain tensor, and `detach` it: a parameter's data has no history
    either."""
    return (x / 2).detach().sin()


def fixed_flag(x):
    """Use this when there are few shapes. Leave `assume_static_by_default` on,
    as it is by default. Each new shape may cost another compilation."""
    return torch.nn.Parameter(x / 2, requires_grad=False).sin()
