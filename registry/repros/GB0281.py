"""A module with a `__getitem__` of its own is indexed with a slice. Treated as
in a strict export, which `torchdynamo_force_dynamic = False` asks for here, a
module takes only a constant int or str."""
import torch
from torch import nn

REACH = "private"


class Stack(nn.Module):
    torchdynamo_force_dynamic = False

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Tanh()])

    def __getitem__(self, key):
        return self.layers[key]


STACK = Stack()


def inputs():
    return (torch.randn(4),)


def broken(x):
    for layer in STACK[0:2]:
        x = layer(x)
    return x


def fixed(x):
    """Use this when you need the modules one after the other. Index with one
    number at a time."""
    for index in range(2):
        x = STACK[index](x)
    return x
