"""The class of an exception is made inside the compiled function, and an
instance outlives it. Dynamo can't write code that finds this class again."""
import torch

TITLE = "A class made inside"


class Empty(ValueError):
    pass


def inputs():
    return torch.nn.Module(), torch.randn(4)


def broken(model, x):
    Empty = type("Empty", (ValueError,), {})
    model.error = Empty("no rows")
    return x.sin()


def fixed(model, x):
    """Use this when every call can use the same class. Define it outside, at
    module level."""
    model.error = Empty("no rows")
    return x.sin()
