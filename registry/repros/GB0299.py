"""Dynamo runs a method of a compiled regular expression while tracing, so all
arguments must be constants. This one is a function that uses a tensor."""
import re

import torch

DASH = re.compile("-")


def inputs():
    return (torch.randn(8),)


def broken(x):
    name = DASH.sub(lambda match: str(x.dim()), "layer-")
    return {name: x.sin()}


def fixed(x):
    """Use this when the replacement doesn't depend on the match. Compute it
    first, and pass a string."""
    name = DASH.sub(str(x.dim()), "layer-")
    return {name: x.sin()}
