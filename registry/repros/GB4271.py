"""The object changes its class. What its methods do then depends on the new
class, and Dynamo doesn't follow such a change."""
import torch


class Training:
    rate = 1.0

    def scale(self, x):
        return x * self.rate


class Frozen(Training):
    def scale(self, x):
        return x


def inputs():
    return (torch.randn(8),)


def broken(x):
    layer = Training()
    layer.rate = 3.0
    layer.__class__ = Frozen
    return layer.scale(x) + layer.rate


def fixed(x):
    """Use this when a new object can replace the old one. Create an object of
    the new class, and copy the attributes to it."""
    layer = Training()
    layer.rate = 3.0
    frozen = Frozen()
    frozen.__dict__.update(layer.__dict__)
    return frozen.scale(x) + frozen.rate
