"""An attribute was set through `vars`, and its name is a subclass of `str`.
Dynamo reads the dict of an object only if all its keys are plain strings."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0156"
REQUIRES = {"release": ">=2.15"}


class Name(str):
    pass


class Settings:
    pass


SETTINGS = Settings()
vars(SETTINGS)[Name("scale")] = 2.0


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * vars(SETTINGS)["scale"]


def fixed(x):
    """Use this when you know the name of the attribute. Read the attribute
    instead of the dict."""
    return x * SETTINGS.scale
