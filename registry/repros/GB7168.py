"""`__get__` makes a method out of a function that is defined inside the
compiled function. Dynamo has a rule for that only if the function comes from
outside."""
import torch

REQUIRES = {"release": ">=2.15"}


class Model:
    scale = 2.0


def inputs():
    return Model(), torch.randn(8)


def scaled(self, x):
    return x * self.scale


def broken(model, x):
    def scaled(self, x):
        return x * self.scale

    method = scaled.__get__(model)
    return method(x).sin()


def fixed(model, x):
    """Use this when the function needs nothing from the compiled function.
    Define it outside."""
    method = scaled.__get__(model)
    return method(x).sin()
