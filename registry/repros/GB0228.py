"""An object made in the compiled function creates a parameter in `__init__`.
The option that lets Dynamo create parameters doesn't hold while it traces
the creation of an object."""
import torch

REACH = "config"
CONFIG = {"graph_break_on_nn_param_ctor": False}


class Scale:
    def __init__(self, like):
        self.weight = torch.nn.Parameter(torch.ones(8, device=like.device) / 2)

    def __call__(self, x):
        return x * self.weight


scale = Scale(torch.ones(8))


def inputs():
    return (torch.randn(8),)


def broken(x):
    return Scale(x)(x)


def fixed(x):
    """Use this when all calls can use the same object. Create it once,
    outside. An optimizer can find its parameter there, too."""
    return scale(x)
