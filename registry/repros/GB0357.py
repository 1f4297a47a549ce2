"""The compiled function uses a module made by `torch.jit.script`. That is
TorchScript, already compiled: no Python code is left for Dynamo to trace."""
import torch

REQUIRES = {"release": ">=2.10,<2.12"}
LAYER = torch.nn.Linear(4, 4)
SCRIPTED = torch.jit.script(LAYER)


def inputs():
    return (torch.randn(4),)


def broken(x):
    return SCRIPTED(x).relu()


def fixed(x):
    """Use this when you still have the original module. Compile that one: it
    shares the weights."""
    return LAYER(x).relu()


PLAIN = torch.nn.Linear(4, 4)
WEIGHTS = dict(SCRIPTED.named_parameters())


def fixed_functional(x):
    """Use this when you have only the scripted module, and know its class. Run
    a new module of that class with the weights of the scripted one."""
    return torch.func.functional_call(PLAIN, WEIGHTS, (x,)).relu()
