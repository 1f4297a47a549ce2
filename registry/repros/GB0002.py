"""An `assert` about a dynamic shape fails for the shape of this input. Dynamo
finds out while it traces and gives up, even though an `except` would catch the
error."""
import torch

COMPILE = {"dynamic": True}


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        assert x.size(0) % 3 == 0
    except AssertionError:
        x = torch.nn.functional.pad(x, (0, -x.size(0) % 3))
    return x.view(-1, 3)


def fixed(x):
    """Use this when shapes that fail the check are allowed, too. Ask with
    `if`. `assert` is for mistakes."""
    if x.size(0) % 3 != 0:
        x = torch.nn.functional.pad(x, (0, -x.size(0) % 3))
    return x.view(-1, 3)
