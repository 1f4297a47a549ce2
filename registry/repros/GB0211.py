"""A module's `__getattr__` is not a plain function: `lru_cache` has wrapped it
in an object written in C. `torchdynamo_force_dynamic = False` makes Dynamo
treat the module as in a strict export; else the break has another name."""
import functools

import torch

REACH = "private"


class Net(torch.nn.Module):
    torchdynamo_force_dynamic = False

    @functools.lru_cache
    def __getattr__(self, name):
        return 2.0 if name == "scale" else super().__getattr__(name)

    def forward(self, x):
        return x * self.scale


class PlainNet(torch.nn.Module):
    torchdynamo_force_dynamic = False
    forward = Net.forward

    def __getattr__(self, name):
        return 2.0 if name == "scale" else super().__getattr__(name)


NET, PLAIN_NET = Net(), PlainNet()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return NET(x)


def fixed(x):
    """Leave the decorator out: Dynamo reads the attribute while it traces, so
    in the compiled code there is nothing for a cache to save."""
    return PLAIN_NET(x)
