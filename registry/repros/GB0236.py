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
    """The object doesn't change: register its class as a constant. It needs
    `__eq__` and `__hash__` of its own."""
    return apply(x, known_config)


def fixed_number(x):
    """The function needs only a number or two: pass these."""
    return apply_scale(x, config.scale)
