"""A `class` statement inside the compiled function makes a new class on
every call. By default Dynamo doesn't trace class definitions."""
import torch

FLAGS = {"fixed_flag": {"enable_trace_load_build_class": True}}


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
    """Use this when nothing in the class depends on the call. Define the class
    at module level."""
    return Shift(2)(x)


def fixed_flag(x):
    """Use this when the class must be made here. Set
    `enable_trace_load_build_class`. Dynamo then makes the class while tracing,
    once for all calls of the graph."""
    class Shift:
        def __init__(self, by):
            self.by = by

        def __call__(self, x):
            return x.roll(self.by)

    return Shift(2)(x)
