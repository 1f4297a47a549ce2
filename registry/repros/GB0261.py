"""A module keeps a method of another object, and `functools.lru_cache` has
wrapped this method. Dynamo expects a Python function inside a method, but the
wrapper is an object written in C."""
import functools

import torch

REQUIRES = {"release": ">=2.9,<2.12"}


class Schedule:
    @functools.lru_cache(maxsize=8)
    def cached(self, step):
        return 1 / (step + 1)

    def plain(self, step):
        return 1 / (step + 1)


class Net(torch.nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x, step):
        return x * self.rate(step)


schedule = Schedule()
net = Net(schedule.cached)
plain_net = Net(schedule.plain)


def inputs():
    return torch.randn(8), int(torch.randint(4, ()))


def broken(x, step):
    return net(x, step)


def fixed(x, step):
    """Use this when the method is cheap to trace. Leave the cache out:
    Dynamo traces the method, and it becomes a part of the graph."""
    return plain_net(x, step)
