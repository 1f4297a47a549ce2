"""A module has its own `__getattribute__`, and that does something Dynamo
can't trace. `torchdynamo_force_dynamic = False` makes Dynamo treat the module
as in a strict export; without it the break has another name."""
import json

import torch

REACH = "private"


class Net(torch.nn.Module):
    torchdynamo_force_dynamic = False

    def __getattribute__(self, name):
        if name == "scale":
            return json.loads("2.0")
        return super().__getattribute__(name)

    def forward(self, x):
        return x * self.scale


class PropertyNet(torch.nn.Module):
    torchdynamo_force_dynamic = False
    parsed = json.loads("2.0")

    @property
    def scale(self):
        return self.parsed

    def forward(self, x):
        return x * self.scale


NET, PROPERTY_NET = Net(), PropertyNet()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return NET(x)


def fixed(x):
    """Use this when only one attribute is special. Make it a property, and do
    what Dynamo can't trace before the model runs."""
    return PROPERTY_NET(x)
