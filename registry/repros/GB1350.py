"""`operator.length_hint` asks an object for its length, and the answer is a
number that Dynamo doesn't know while tracing, here an `id`."""
import operator

import torch

REACH = "contrived"
NEIGHBOUR = "GB0088"
REQUIRES = {"release": ">=2.15"}


class Endless:
    def __length_hint__(self):
        return id(self)


class EndlessMax:
    def __length_hint__(self):
        return 2 ** 31


def inputs():
    return (torch.randn(8),)


def broken(x):
    hint = operator.length_hint(Endless())
    return x[:hint].sin()


def fixed(x):
    """Use this when any large number will do. Return a constant."""
    hint = operator.length_hint(EndlessMax())
    return x[:hint].sin()
