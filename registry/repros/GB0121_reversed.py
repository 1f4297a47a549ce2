"""A method of `nn.Module` is reached under another name, here through
`reversed(module)`. Dynamo doesn't trace a method of `nn.Module` that a
built-in function calls this way."""
import torch

TITLE = "reversed(module)"
REACH = "contrived"
NEIGHBOUR = "GB0142"
REQUIRES = {"release": ">=2.13"}


class Mirror(torch.nn.Sequential):
    __reversed__ = torch.nn.Module.children


MIRROR = Mirror(torch.nn.Tanh(), torch.nn.Softplus(), torch.nn.Tanh())


def inputs():
    return (torch.randn(4),)


def broken(x):
    for layer in reversed(MIRROR):
        x = layer(x)
    return x


def fixed(x):
    """Use this when the new name is only another name for the method. Call the
    method by its own name."""
    for layer in MIRROR.children():
        x = layer(x)
    return x
