"""A function marked `nonstrict_trace` gets an object of a class of your own.
Such a function takes tensors, numbers, and containers of them; torch doesn't
know what is in the object."""
import torch


class Config:
    def __init__(self, scale):
        self.scale = scale


class KnownConfig(Config):
    def __eq__(self, other):
        return self.scale == other.scale

    def __hash__(self):
        return hash(self.scale)


torch.utils._pytree.register_constant(KnownConfig)
config, known_config = Config(0.5), KnownConfig(0.5)


@torch._dynamo.nonstrict_trace
def apply(x, config):
    return x * config.scale


@torch._dynamo.nonstrict_trace
def apply_scale(x, scale):
    return x * scale


def inputs():
    return (torch.randn(8),)


def broken(x):
    return apply(x, config)


def fixed(x):
    """Use this when the object doesn't change. Register its class as a
    constant. The class needs `__eq__` and `__hash__` of its own."""
    return apply(x, known_config)


def fixed_number(x):
    """Use this when the function needs only a number or two. Pass the numbers
    instead of the object."""
    return apply_scale(x, config.scale)
