"""The message of a failing `assert` is a shape and not a string. Dynamo can
raise an assertion error while it traces, but only one whose message is
text."""
import torch


def inputs():
    return (torch.randn(6),)


def broken(x):
    try:
        assert len(x) % 4 == 0, x.shape
    except AssertionError:
        x = torch.nn.functional.pad(x, (0, 2))
    return x.view(-1, 4)


def fixed(x):
    """Use this when the message should show the values. Put them into a
    string."""
    try:
        assert len(x) % 4 == 0, f"bad shape {tuple(x.shape)}"
    except AssertionError:
        x = torch.nn.functional.pad(x, (0, 2))
    return x.view(-1, 4)


def fixed_if(x):
    """Use this when the assertion only chooses what the program does next. Use
    `if` instead."""
    if len(x) % 4:
        x = torch.nn.functional.pad(x, (0, 2))
    return x.view(-1, 4)
