"""`except*` handles a group of errors. Python has instructions of its own for
it, and Dynamo has no rule for them."""
import torch

REQUIRES = {"python": ">=3.11"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        if x.dim() != 2:
            raise ExceptionGroup("input", [ValueError("need a matrix")])
    except* ValueError:
        x = x.diag()
    return x.trace()


def fixed(x):
    """Use this when there is never more than one error at a time. Raise and
    catch that error. No group is needed."""
    try:
        if x.dim() != 2:
            raise ValueError("need a matrix")
    except ValueError:
        x = x.diag()
    return x.trace()


def fixed_group(x):
    """Use this when the group comes from elsewhere and holds one kind of
    error. Catch the whole group with a plain `except`."""
    try:
        if x.dim() != 2:
            raise ExceptionGroup("input", [ValueError("need a matrix")])
    except ExceptionGroup:
        x = x.diag()
    return x.trace()
