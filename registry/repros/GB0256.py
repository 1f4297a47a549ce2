"""`__getattr__` is an object that can be called, not a function. Dynamo looks
for a function there, to trace it."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0085"


class Lookup:
    def __call__(self, name):
        return {"scale": 2.0}[name]


class Settings:
    __getattr__ = Lookup()


class PlainSettings:
    def __getattr__(self, name):
        return Lookup()(name)


SETTINGS = Settings()
PLAIN_SETTINGS = PlainSettings()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * SETTINGS.scale


def fixed(x):
    """Use this when the class with `__getattr__` is yours. Define
    `__getattr__` with `def`, and let it call the object."""
    return x * PLAIN_SETTINGS.scale
