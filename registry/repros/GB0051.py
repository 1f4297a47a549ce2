"""An `except` names several error classes, and one of them comes from numpy.
Dynamo keeps what comes from numpy apart from Python's own classes, and accepts
only Python's own in the tuple."""
import numpy as np
import torch

REQUIRES = {"module": "numpy"}


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        if x.dim() != 2:
            raise ValueError("need a matrix")
    except (np.linalg.LinAlgError, ValueError):
        x = x.diag()
    return x.trace()


def fixed(x):
    """Use this when one class includes the other. `LinAlgError` is a
    `ValueError`, so one name catches both."""
    try:
        if x.dim() != 2:
            raise ValueError("need a matrix")
    except ValueError:
        x = x.diag()
    return x.trace()


def fixed_order(x):
    """Use this when you want to keep both names. Put Python's own first.
    Dynamo looks no further than the one that matches."""
    try:
        if x.dim() != 2:
            raise ValueError("need a matrix")
    except (ValueError, np.linalg.LinAlgError):
        x = x.diag()
    return x.trace()
