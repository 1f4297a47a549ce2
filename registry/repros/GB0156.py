"""The program calls a method of an object that isn't written in Python: a
parser, a file, a tokenizer, a lock. Dynamo has no Python code to trace, and no
rule for that method. The message names the class and the method."""
import struct

import torch

TITLE = "Struct.unpack()"
HEADER = struct.Struct("<f")
DATA = HEADER.pack(2.0)
SETTINGS = HEADER.unpack(DATA)


def inputs():
    return (torch.randn(8),)


def broken(x):
    (scale,) = HEADER.unpack(DATA)
    return x * scale


def fixed(x):
    """Use this when the data doesn't change. Read it once, before you compile;
    a plain tuple is no problem for Dynamo."""
    (scale,) = SETTINGS
    return x * scale
