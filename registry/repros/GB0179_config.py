"""The function copies a configuration with `copy.deepcopy`, to change the copy.
You meet this where text is generated: `generate` copies its settings. Newer
releases trace the copy, unless there are tensors in it."""
import copy
import dataclasses

import torch
from torch._dynamo.decorators import skip

TITLE = "A configuration"


@dataclasses.dataclass
class Options:
    scale: float
    sizes: list[int]


DEFAULTS = Options(scale=2.0, sizes=[2, 6])


def parts(x, options):
    return [part * options.scale for part in x.split(options.sizes)]


def inputs():
    return (torch.randn(8),)


def broken(x):
    options = copy.deepcopy(DEFAULTS)
    options.sizes.reverse()
    return [part * options.scale for part in x.split(options.sizes)]


def fixed(x):
    """Use this when you know what is in the configuration. Make the copy by
    hand, with new lists and dictionaries."""
    options = dataclasses.replace(DEFAULTS, sizes=list(DEFAULTS.sizes))
    options.sizes.reverse()
    return [part * options.scale for part in x.split(options.sizes)]


@skip
def fixed_caller(x):
    """Use this when you don't. Copy in the caller, and pass the copy in. `skip`
    stands for a caller that you don't compile."""
    options = copy.deepcopy(DEFAULTS)
    options.sizes.reverse()
    return parts(x, options)
