"""A class is registered as a constant, and an object of it is made inside the
compiled function, then given to one marked `nonstrict_trace`. Dynamo needs a
constant that exists before it starts to trace."""
import torch


class Config:
    def __init__(self, scale):
        self.scale = scale

    def __eq__(self, other):
        return self.scale == other.scale

    def __hash__(self):
        return hash(self.scale)


torch.utils._pytree.register_constant(Config)
config = Config(0.5)


@torch._dynamo.nonstrict_trace
def apply(x, config):
    return x * config.scale


def inputs():
    return (torch.randn(8),)


def broken(x):
    return apply(x, Config(0.5))


def fixed(x):
    """Use this when the object is the same in each call. Make it once, outside
    the compiled function."""
    return apply(x, config)
