"""An object's `__dict__` is replaced by a dict in which a number is a key.
Python lets it pass, but for Dynamo the name of an attribute is a string."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0254"
EFFECTS = {
    "fixed": "The number is a key in `settings.scales`, not among the "
    "attributes. Dynamo needs strings as names of attributes.",
    "fixed_string": "The name is a string, not a number. Dynamo needs strings "
    "as names of attributes.",
}


class Settings:
    pass


settings = Settings()


def inputs():
    return (torch.randn(8),)


def broken(x):
    settings.__dict__ = {"scale": 2.0, 0: 3.0}
    return x * settings.scale


def fixed(x):
    """You need numbers as keys: use a dict of its own, under one name."""
    settings.__dict__ = {"scale": 2.0, "scales": {0: 3.0}}
    return x * settings.scale


def fixed_string(x):
    """The number is only a name: write it as a string."""
    settings.__dict__ = {"scale": 2.0, "scale0": 3.0}
    return x * settings.scale
