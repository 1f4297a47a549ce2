"""A module's `__getattr__` is not a plain function: `lru_cache` has wrapped it
in an object written in C. `torchdynamo_force_dynamic = False` makes Dynamo
treat the module as in a strict export; without it, the break has another
name."""
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
    """Use this when you want the cache only for speed. Leave the decorator
    out: Dynamo reads the attribute while it traces, so a cache saves nothing
    in the compiled code."""
    return PLAIN_NET(x)
