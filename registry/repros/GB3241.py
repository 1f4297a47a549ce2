"""`del` calls the descriptor's `__delete__`, which isn't a function written
with `def`. Dynamo takes it for C code, and has no rule for it."""
import functools

import torch

REACH = "contrived"
NEIGHBOUR = "GB0139"


class Resettable:
    def __set__(self, obj, value):
        obj.__dict__["scale"] = value

    def __get__(self, obj, cls=None):
        return obj.__dict__["scale"]

    def reset(self, default, obj):
        obj.__dict__["scale"] = default

    __delete__ = functools.partialmethod(reset, 1.0)


class PlainResettable(Resettable):
    def __delete__(self, obj):
        self.reset(1.0, obj)


class Layer:
    scale = Resettable()
    plain_scale = PlainResettable()


LAYER = Layer()


def inputs():
    return (torch.randn(8),)


def broken(x):
    LAYER.scale = 2.0
    x = x * LAYER.scale
    del LAYER.scale
    return x + LAYER.scale


def fixed(x):
    """Use this when the descriptor is your own code. Define `__delete__` with
    `def`, so that Dynamo can trace it."""
    LAYER.plain_scale = 2.0
    x = x * LAYER.plain_scale
    del LAYER.plain_scale
    return x + LAYER.plain_scale
