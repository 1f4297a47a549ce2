"""An object is created inside the compiled function, and a parameter of its
`__init__` has a default value that is an object, too."""
from fractions import Fraction

import torch

TITLE = "A default argument"

HALF = Fraction(1, 2)


class Zoom:
    def __init__(self, ratio=HALF):
        self.ratio = ratio

    def __call__(self, x):
        return x / self.ratio.denominator


class LateZoom(Zoom):
    def __init__(self, ratio=None):
        self.ratio = HALF if ratio is None else ratio


zoom = Zoom()


def inputs():
    return (torch.randn(4),)


def broken(x):
    return Zoom()(x)


def fixed(x):
    """Use this when you can change the class. Let the default be `None`, and
    take the object from the module."""
    return LateZoom()(x)


def fixed_outside(x):
    """Use this when you can't change the class. Create the object outside,
    once, and call it."""
    return zoom(x)
