"""A `class` statement inside the compiled function makes a new class on
every call. By default Dynamo doesn't trace class definitions."""
import torch


class Shift:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x.roll(self.by)


def inputs():
    return (torch.randn(8),)


def broken(x):
    class Shift:
        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return x.roll(self.by)

    return Shift(2)(x)


def fixed(x):
    """Define the class at module level; making an instance is no problem."""
    return Shift(2)(x)
