"""A class method is made from something that is not a Python function, here a
property. Dynamo can only bind a Python function to its class."""
import torch

REQUIRES = {"python": "<3.13", "release": ">=2.15"}


class Model:
    sizes = (4, 8)

    @classmethod
    @property
    def width(cls):
        return cls.sizes[-1]

    @classmethod
    def get_width(cls):
        return cls.sizes[-1]

    @property
    def own_width(self):
        return self.sizes[-1]


MODEL = Model()


def inputs():
    return (torch.randn(8),)


def broken(x):
    return x * MODEL.width


def fixed(x):
    """Use this when the class must answer, too. Make it a class method, and
    call it. Python 3.13 removed class properties, so this is due anyway."""
    return x * MODEL.get_width()


def fixed_property(x):
    """Use this when you only ask instances. Make it a plain property."""
    return x * MODEL.own_width
