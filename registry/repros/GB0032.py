"""A module with its own `__getattribute__` is asked for an entry of its
`__dict__`. `torchdynamo_force_dynamic = False` makes Dynamo treat the module
as in a strict export; without it there is no break."""
import torch

REACH = "private"
REQUIRES = {"release": "<2.12"}


class Net(torch.nn.Module):
    torchdynamo_force_dynamic = False

    def __getattribute__(self, name):
        return super().__getattribute__(name)

    def forward(self, x):
        return x * self.__dict__.get("scale", 2.0)


class PlainNet(torch.nn.Module):
    torchdynamo_force_dynamic = False

    def forward(self, x):
        return x * self.__dict__.get("scale", 2.0)


NET, PLAIN_NET = Net(), PlainNet()


def inputs():
    NET.scale = PLAIN_NET.scale = 3.0
    return (torch.randn(8),)


def broken(x):
    return NET(x)


def fixed(x):
    """Use this when the module can do without `__getattribute__`. Make what is
    special a property, or use `__getattr__`, which Python calls only for names
    that it doesn't find."""
    return PLAIN_NET(x)
