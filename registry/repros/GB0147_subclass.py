"""A class of your own is derived from `float`, to give a number a unit or a
method. Dynamo can't create such an object."""
import torch

TITLE = "A class derived from float"


class Degrees(float):
    def radians(self):
        return self * 3.14159265 / 180


class Angle:
    def __init__(self, degrees):
        self.degrees = degrees

    def radians(self):
        return self.degrees * 3.14159265 / 180


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x + Degrees(90.0).radians()


def fixed(x):
    """Use this when your class doesn't have to be a `float`. Keep the number
    in an attribute of a plain class."""
    return x + Angle(90.0).radians()
