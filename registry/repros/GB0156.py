"""The program reads JSON inside the compiled function. The parser is an
object written in C, and Dynamo can't trace its methods."""
import json

import torch

TEXT = '{"scale": 2.0}'
SETTINGS = json.loads(TEXT)


def inputs():
    return (torch.randn(8),)


def broken(x):
    settings = json.loads(TEXT)
    return x * settings["scale"]


def fixed(x):
    """Read settings once, before compiling; a plain dict is no problem."""
    return x * SETTINGS["scale"]
