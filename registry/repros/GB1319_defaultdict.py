"""A `defaultdict` is merged with another dict by `|`, and the result leaves
the compiled function. Dynamo doesn't know where the class `defaultdict` comes
from here, so it can't write code that makes the result. The message speaks of
a class that you define inside the function; that isn't the cause here."""
import collections

import torch

TITLE = "A merged defaultdict"
REQUIRES = {"release": ">=2.13"}
STATS = collections.defaultdict(list, size=[8])


def inputs():
    return (torch.randn(8),)


def broken(x):
    return STATS | {"mean": [x.mean()]}


def fixed(x):
    """Use this when the result must be a `defaultdict`. Make it by its name
    first, and fill it with `update`."""
    stats = collections.defaultdict(list)
    stats.update(STATS)
    stats["mean"] = [x.mean()]
    return stats
