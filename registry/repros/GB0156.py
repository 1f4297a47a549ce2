"""The program calls a method of an object that isn't written in Python: a
parser, a file, a tokenizer, a lock. Dynamo has no Python code to trace, and no
rule for that method. The message names the class and the method."""
import json

import torch

TITLE = "json.loads()"
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
