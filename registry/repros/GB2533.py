"""A context manager made with `@contextmanager` outlives the function: a
global keeps it, and returning it would be the same. It is a paused generator,
and Dynamo can't build one that Python could resume."""
import contextlib

import torch

EFFECTS = {
    "fixed": "It doesn't set `last`. Choose it only if nothing reads that.",
    "fixed_class": "`last` is an object of your class. Dynamo can't build what "
    "`@contextmanager` makes.",
}


@contextlib.contextmanager
def doubled(x):
    yield x * 2


class Doubled:
    def __init__(self, x):
        self.x = x

    def __enter__(self):
        return self.x * 2

    def __exit__(self, *error):
        return None


last = None


def inputs():
    return (torch.randn(8),)


def broken(x):
    global last
    last = doubled(x)
    with last as y:
        return y.sin()


def fixed(x):
    """Use this when nobody needs the context manager after the call. Keep it
    local."""
    with doubled(x) as y:
        return y.sin()


def fixed_class(x):
    """Use this when the context manager must outlive the call. Write it as a
    class: Dynamo can build an object with attributes."""
    global last
    last = Doubled(x)
    with last as y:
        return y.sin()
