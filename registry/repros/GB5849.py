"""An object's `__dict__` is replaced by a dict in which a tensor is a key.
Dynamo needs attribute names that it knows while it traces."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0254"
EFFECTS = {
    "fixed": "The tensor is a key in `settings.scales`, not among the "
    "attributes. Dynamo needs strings as names of attributes."
}


class Settings:
    pass


settings = Settings()


def inputs():
    return (torch.randn(8),)


def broken(x):
    settings.__dict__ = {"scale": 2.0, x: 3.0}
    return x * settings.scale


def fixed(x):
    """Use this when you need a tensor as a key. Put it into a separate dict,
    and store that dict under one name."""
    settings.__dict__ = {"scale": 2.0, "scales": {x: 3.0}}
    return x * settings.scale
