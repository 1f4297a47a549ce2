"""An exception gets the traceback of an earlier one. While Dynamo traces, its
exceptions have no traceback, and it can only set that to `None`."""
import torch

REQUIRES = {"release": "<2.11"}

try:
    raise OSError("no file")
except OSError as error:
    earlier = error.__traceback__


class NoRows(ValueError):
    def __init__(self, traceback):
        self.traceback = traceback


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        raise ValueError("no rows").with_traceback(earlier)
    except ValueError:
        return x.relu()


def fixed(x):
    """Use this when the handler needs the earlier traceback. Carry it in an
    attribute of your own exception class."""
    try:
        raise NoRows(earlier)
    except NoRows:
        return x.relu()
