"""`repr` of a `SimpleNamespace` is written in C. Dynamo has no Python code to
trace, so it leaves the whole function to Python."""
import types

import torch

SETTINGS = types.SimpleNamespace(scale=2.0)
LABEL = repr(SETTINGS)


def inputs():
    return (torch.randn(8),)


def broken(x):
    return {repr(SETTINGS): x * SETTINGS.scale}


def fixed(x):
    """Use this when the object doesn't change between calls. Make the text
    once, outside."""
    return {LABEL: x * SETTINGS.scale}
