"""A dict has functions as keys, and one of them is a result of
`torch.compile`. You meet this where only some functions of a table are
compiled."""
import torch

TITLE = "A compiled function as key"


@torch.compile(backend="eager")
def swish(x):
    return x * x.sigmoid()


GAIN = {swish: 2.0}
GAIN_BY_NAME = {"swish": 2.0}


def inputs():
    return (torch.randn(8),)


def broken(x):
    return swish(x) * GAIN[swish]


def fixed(x):
    """Use this when some functions of the table are compiled and others are
    not. Use their names as keys: Dynamo knows how to compare strings."""
    return swish(x) * GAIN_BY_NAME["swish"]
