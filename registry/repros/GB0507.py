"""`operator.length_hint` gets a default that Dynamo doesn't know while
tracing, here the `id` of a list that the compiled function makes."""
import operator

import torch

REACH = "contrived"
NEIGHBOUR = "GB0055"
REQUIRES = {"release": ">=2.15"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    rows = [x, x.sin()]
    return x * operator.length_hint(iter(rows), id(rows))


def fixed(x):
    """Use this when the iterator knows its length. Leave the default out, or
    give a number."""
    rows = [x, x.sin()]
    return x * operator.length_hint(iter(rows), 2)
