"""A context manager made inside the compiled function is stored on an object
that outlives it. Dynamo knows this one only as part of a `with`."""
import torch

REACH = "private"
EFFECTS = {"fixed": "No context manager is stored."}
MODEL = torch.nn.Module()


def inputs():
    return (torch.randn(4),)


def broken(x):
    y = x.clone()
    MODEL.region = torch.autograd._unsafe_preserve_version_counter(y)
    with MODEL.region:
        y.mul_(2)
    return y.sin()


def fixed(x):
    """Use this when the context manager is used only once. Write it into the
    `with` statement, and store nothing."""
    y = x.clone()
    with torch.autograd._unsafe_preserve_version_counter(y):
        y.mul_(2)
    return y.sin()
