"""A dataclass is created inside the compiled function, and one of its fields
has an object as the default value: a module, a path, another dataclass."""
from dataclasses import dataclass

import torch

TITLE = "A dataclass default"


class Scale:
    def __init__(self, factor):
        self.factor = factor


TWICE = Scale(2.0)


@dataclass
class Options:
    scale: Scale = TWICE
    shift: float = 1.0


OPTIONS = Options()


def inputs():
    return (torch.randn(4),)


def broken(x):
    options = Options()
    return x * options.scale.factor + options.shift


def fixed(x):
    """Use this when the options differ from call to call. Pass the object by
    name where you create the options."""
    options = Options(scale=TWICE)
    return x * options.scale.factor + options.shift


def fixed_outside(x):
    """Use this when the options are always the same. Create them once,
    outside."""
    return x * OPTIONS.scale.factor + OPTIONS.shift
