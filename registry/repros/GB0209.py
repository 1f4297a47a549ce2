"""A context manager made inside the compiled function is stored on an object
that outlives it. Dynamo knows this one only as part of a `with`."""
import torch

REACH = "private"


def inputs():
    return torch.nn.Module(), torch.randn(4)


def broken(model, x):
    model.region = torch.autograd._unsafe_preserve_version_counter(x)
    with model.region:
        x.mul_(2)
    return x.sin()


def fixed(model, x):
    """Use this when the context manager is used only once. Write it into the
    `with` statement, and store nothing."""
    with torch.autograd._unsafe_preserve_version_counter(x):
        x.mul_(2)
    return x.sin()
