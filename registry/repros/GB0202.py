"""`named_modules` is called with an argument that is not a constant, a set of
modules. `torchdynamo_force_dynamic = False` makes Dynamo treat the module as
in a strict export, where such arguments must be constants."""
import torch
from torch import nn

REACH = "private"


class Net(nn.Module):
    torchdynamo_force_dynamic = False

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.last = nn.Linear(4, 4)


NET = Net()


def inputs():
    return (torch.randn(4),)


def broken(x):
    rest = [module for _, module in NET.named_modules(memo={NET.first})]
    return rest[-1](x)


def fixed(x):
    """Use this when you want all modules but a few. Ask for all of them, and
    leave some out yourself."""
    rest = [module for module in NET.modules() if module is not NET.first]
    return rest[-1](x)
