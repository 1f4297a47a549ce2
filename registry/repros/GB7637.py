"""An object's `__dict__` is replaced by a dict in which a number is a key.
Python accepts that, but for Dynamo the name of an attribute is a string."""
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
    """Use this when you need numbers as keys. Put them into a separate dict,
    and store that dict under one name."""
    settings.__dict__ = {"scale": 2.0, "scales": {0: 3.0}}
    return x * settings.scale


def fixed_string(x):
    """Use this when the number is only a name. Write it as a string."""
    settings.__dict__ = {"scale": 2.0, "scale0": 3.0}
    return x * settings.scale
