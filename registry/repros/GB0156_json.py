"""`json.loads` is Python code, but the scanner that it calls is an object
written in C. Dynamo can't trace into that."""
import json

import torch

TITLE = "json.loads()"
REQUIRES = {"release": ">=2.13,<2.14"}
TEXT = '{"scale": 2.0}'
SETTINGS = json.loads(TEXT)


def inputs():
    return (torch.randn(8),)


def broken(x):
    settings = json.loads(TEXT)
    return x * settings["scale"]


def fixed(x):
    """Use this when the settings don't change. Read them once, before you
    compile; a plain dict is no problem for Dynamo."""
    return x * SETTINGS["scale"]
