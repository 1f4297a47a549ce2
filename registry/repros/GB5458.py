"""A metaclass with its own `__getattribute__` decides what attributes of the
class are. Dynamo doesn't trace that. Reading `Settings.factor` directly still
works, but `getattr` with a tensor as default does not."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB2404"
ALIASES = {"factor": "scale"}


class Aliased(type):
    def __getattribute__(cls, name):
        return super().__getattribute__(ALIASES.get(name, name))


class AliasedMissing(type):
    def __getattr__(cls, name):
        return getattr(cls, ALIASES[name])


class Settings(metaclass=Aliased):
    scale = 2.0


class MissingSettings(metaclass=AliasedMissing):
    scale = 2.0


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * getattr(Settings, "factor", x)


def fixed(x):
    """Use this when the attribute is always there. Read it without a
    default."""
    return x * Settings.factor


def fixed_missing(x):
    """Use this when only names that don't exist need help. Define
    `__getattr__` instead of `__getattribute__`."""
    return x * getattr(MissingSettings, "factor", x)
