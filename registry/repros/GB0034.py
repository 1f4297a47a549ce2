"""An `assert` fails while Dynamo traces: the condition is about the shape,
which is known. Here an `except` catches the failure, and inside a `try` Dynamo
can't end the graph and go on, so it gives up on the function."""
import torch


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        assert x.dim() == 2
    except AssertionError:
        x = x.unsqueeze(0)
    return x.sin()


def fixed(x):
    """Use this when an input that fails the check is allowed, too. Ask with
    `if`. `assert` is for mistakes."""
    if x.dim() != 2:
        x = x.unsqueeze(0)
    return x.sin()
